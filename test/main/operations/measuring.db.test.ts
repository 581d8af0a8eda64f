/** What `/metrics` says of the database must be true with every poller dead, and cheap whatever the tables hold. */
import { beforeEach, expect, test } from 'vitest';
import type { Pool } from '../../../src/db/pool.ts';
import { heartbeat } from '../../../src/main/operations/heartbeat.ts';
import {
  measureBalance,
  measureInstallation,
  measureProcesses,
  measureSeals,
  measureTables,
  measureVerify,
} from '../../../src/main/operations/measure-installation.ts';
import { measureDepth, measureOverdue, measureWebhooks } from '../../../src/main/operations/measure-queue.ts';
import { MEASURING_SETTINGS, measuring } from '../../../src/main/operations/measuring.ts';
import { sealAll } from '../../../src/audit/seals/sealer.ts';
import type { ReadingName, Readings } from '../../../src/telemetry/readings.ts';
import { startCounting } from '../../support/counters.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents, insertSubscriber, insertWebhook } from '../../support/outbox.ts';
import { untilSettled } from '../../support/settled.ts';
import { silentLog } from '../../support/silent-log.ts';
import { pollLanes } from '../../support/poll.ts';
import { createTestDatabase, openPool } from '../../support/database.ts';

const { database, partnerId, webhookId } = await useOneWebhook();
const { sql, url } = database;
beforeEach(async () => {
  await database.sql`truncate processes, seals, balance_verdicts, verify_verdicts`;
});

/** The samples of one gauge by the value of its only label; whole numbers. */
function by(readings: Readings, name: ReadingName): Record<string, number> {
  return Object.fromEntries(
    (readings[name] ?? []).map(({ labels = {}, value }) => [Object.values(labels)[0] ?? '', Math.round(value)]),
  );
}

/** As if all that was written had been written this long ago. */
async function wait(seconds: number): Promise<void> {
  await sql`
    update deliveries set next_attempt_at = next_attempt_at - ${seconds} * interval '1 second'`;
  await sql`update claims set at = at - ${seconds} * interval '1 second'`;
}

/** The age of what became due `ageS` ago at the test's start, which goes on while the test does. */
function agedSince(startMs: number, ageS: number) {
  const mostS = ageS + Math.ceil((Date.now() - startMs) / 1_000);
  return expect.toSatisfy((seconds: number) => seconds >= ageS && seconds <= mostS, `from ${ageS} to ${mostS}`);
}

test('deliveries that no poller has ever looked at are overdue, and so is the oldest of them', async () => {
  const startMs = Date.now();
  expect(by(await measureOverdue(sql), 'oldestOverdue')).toEqual({ poller: 0, cap: 0, database: 0 });
  await commitEvents(sql, partnerId, 50);
  await wait(132);
  const readings = await measureOverdue(sql);
  expect(by(readings, 'overdue')).toEqual({ poller: 50, cap: 0, database: 0 });
  expect(by(readings, 'oldestOverdue')).toMatchObject({ poller: agedSince(startMs, 132), cap: 0 });
  expect(by(readings, 'capped')).toEqual({ overdue: 0 });
});

test('what a dead poller had claimed is overdue when its lease is over', async () => {
  const { pool } = database;
  const startMs = Date.now();
  await commitEvents(sql, partnerId, 5);
  await pollLanes(pool, 'gone/1', 5, new Date(Date.now() + 5));
  await wait(20);
  expect(by(await measureOverdue(sql), 'overdue')).toEqual({ poller: 0, cap: 0, database: 0 });
  await wait(30);
  expect(by(await measureOverdue(sql), 'overdue')).toEqual({ poller: 5, cap: 0, database: 0 });
  expect(by(await measureOverdue(sql), 'oldestOverdue')).toMatchObject({ poller: agedSince(startMs, 50) });
});

test('what waits behind the cap of its webhook is told apart from what waits for a poller', async () => {
  const { pool } = database;
  await commitEvents(sql, partnerId, 20);
  await pollLanes(pool, 'p/1', 100, new Date(Date.now() + 5));
  await wait(15);
  const { partnerId: other } = await insertSubscriber(sql, 'https://other.example/');
  await commitEvents(sql, other, 3);
  expect(by(await measureOverdue(sql), 'overdue')).toEqual({ poller: 0, cap: 12, database: 0 });
  await sql`update deliveries set next_attempt_at = now() - interval '9 seconds' where partner_id = ${other}`;
  expect(by(await measureOverdue(sql), 'overdue')).toEqual({ poller: 3, cap: 12, database: 0 });
});

test('what is pending is split by whether it has failed, and what stopped by why', async () => {
  await commitEvents(sql, partnerId, 10);
  await sql`
    update deliveries set failures = 2, attempts = 2, next_attempt_at = now() + interval '1 hour'
    where id in (select id from deliveries order by id limit 4)`;
  await sql`
    update deliveries set status = 'suspensa', next_attempt_at = null, finished_at = null
    where id in (select id from deliveries order by id desc limit 1)`;
  const readings = await measureDepth(sql);
  expect(by(readings, 'deliveries')).toEqual({ first: 5, retrying: 4, suspensa: 1, erro: 0 });
  expect(by(readings, 'capped')).toEqual({ pending: 0, suspensa: 0, erro: 0 });
});

test('an installation without webhooks counts none', async () => {
  await sql`delete from lanes`;
  await sql`delete from webhooks`;
  const none = { active: 0, muted: 0, inactive: 0, failing: 0, saturated: 0, silent: 0 };
  expect(by(await measureWebhooks(sql), 'webhooks')).toEqual(none);
});

test('webhooks in trouble are counted, and those without any work are not', async () => {
  const { pool } = database;
  const idle = await insertWebhook(sql, partnerId, 'https://idle.example/', ['margem.falhou']);
  await sql`update webhooks set active = false where id = ${idle.id}`;
  await commitEvents(sql, partnerId, 20);
  expect(by(await measureWebhooks(sql), 'webhooks')).toEqual({
    active: 1,
    muted: 0,
    inactive: 1,
    failing: 0,
    saturated: 0,
    silent: 0,
  });
  await pollLanes(pool, 'p/1', 100, new Date(Date.now() + 5));
  await sql`update lanes set window_size = 1 where webhook_id = ${webhookId}`;
  await sql`
    update deliveries d set attempts = 1 from (select delivery_id from flights() limit 1) f where d.id = f.delivery_id`;
  await sql`update deliveries set failures = 1, next_attempt_at = now() + interval '1 minute' where attempts = 1`;
  expect(by(await measureWebhooks(sql), 'webhooks')).toMatchObject({ failing: 1, saturated: 1, silent: 1 });
  await sql`update lanes set muted_at = now() where webhook_id = ${webhookId}`;
  expect(by(await measureWebhooks(sql), 'webhooks')).toMatchObject({ active: 0, muted: 1, inactive: 1 });
});

test('a process is alive for 30 s after a sign of life, then lost, and after a day forgotten', async () => {
  const self = { name: 'here', role: 'api', host: 'host', keys: ['1a2b3c4d'] } as const;
  for (const name of ['here', 'quiet', 'old']) await heartbeat(sql, { ...self, name });
  await sql`
    update processes p set seen_at = now() - ago
    from (values ('here', interval '0'), ('quiet', '31 seconds'), ('old', '25 hours')) as seen (name, ago)
    where p.name = seen.name`;
  const readings = await measureProcesses(sql);
  expect(readings.processes).toEqual([
    { labels: { role: 'api', state: 'alive' }, value: 1 },
    { labels: { role: 'api', state: 'lost' }, value: 1 },
    { labels: { role: 'poller', state: 'alive' }, value: 0 },
    { labels: { role: 'poller', state: 'lost' }, value: 0 },
  ]);
  const ages = (readings.heartbeats ?? []).map(({ labels, value }): [string, number] => [labels?.process ?? '', value]);
  const { here = 0, quiet = 0, ...others } = Object.fromEntries(ages);
  expect([Math.round(quiet - here), others]).toEqual([31, {}]);
  // Whole seconds: the host's clock is read to the millisecond.
  expect(Math.round(await heartbeat(sql, self))).toBe(0);
  // A host whose clock is five minutes off hears so with its next sign of life.
  const startMs = Date.now();
  const apart = await heartbeat(sql, self, () => Date.now() + 300_000);
  expect(Math.round(apart)).toBeLessThanOrEqual(300);
  expect(apart).toBeGreaterThanOrEqual(299 - (Date.now() - startMs) / 1_000);
  expect(await sql`select name from processes order by name`).toEqual([{ name: 'here' }, { name: 'quiet' }]);
});

test('the seals lag by the oldest row that came after the last of them', async () => {
  const { pool } = database;
  const startMs = Date.now();
  expect(await measureSeals(sql)).toEqual({ sealLag: [{ value: 0 }] });
  await commitEvents(sql, partnerId, 1);
  await untilSettled(sql);
  await sealAll(pool);
  expect(await measureSeals(sql)).toEqual({ sealLag: [{ value: 0 }] });
  await sql`update seals set sealed_at = now() - interval '2 minutes'`;
  await sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, url, claim, recorded_at)
    select id, 1, webhook_id, partner_id, 'desconhecido', now(), 'https://partner.example/', 'p/1', now() - interval '70 seconds'
    from deliveries`;
  expect(by(await measureSeals(sql), 'sealLag')).toEqual({ '': agedSince(startMs, 70) });
});

test('the seals lag by a row that an older transaction held out of the last of them, though none came after it', async () => {
  const fresh = await createTestDatabase();
  const { pool, sql: own } = fresh;
  const { partnerId: partner } = await insertSubscriber(own);
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  await commitEvents(own, partner, 1);
  await untilSettled(own);
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const holding = own.begin(async (tx) => {
    await tx`select pg_current_xact_id()`;
    begin();
    await mayEnd;
  });
  await begun;
  const startMs = Date.now();
  await own`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, url, claim, recorded_at)
    select id, 1, webhook_id, partner_id, 'desconhecido', now(), 'https://partner.example/', 'p/1', now() - interval '6 minutes'
    from deliveries limit 1`;
  await sealAll(pool);
  const readings = await measureSeals(own);
  end();
  await holding;
  expect(by(readings, 'sealLag')).toEqual({ '': agedSince(startMs, 360) });
  await untilSettled(own);
  await sealAll(pool);
  expect(await measureSeals(own)).toEqual({ sealLag: [{ value: 0 }] });
});

test('the balance tells what its last run found, and nothing before the first', async () => {
  // Before the first, the installation's age: an alert on a balance that never ran needs a sample.
  expect(await measureBalance(sql)).toEqual({ balanceAge: [{ value: expect.any(Number) as number }] });
  await sql`insert into balance_verdicts (from_day, to_day, closes, differences) values ('2026-01-01', '2026-01-31', false, 3)`;
  const readings = await measureBalance(sql);
  expect([by(readings, 'balanceCloses'), by(readings, 'balanceDifferences')]).toEqual([{ '': 0 }, { '': 3 }]);
});

test('a balance that does not close stands until one of the same days closes, whatever is said of others', async () => {
  await sql`truncate balance_verdicts`;
  const keep = (from: string, to: string, closes: boolean) => sql`
    insert into balance_verdicts (from_day, to_day, closes, differences) values (${from}, ${to}, ${closes}, ${closes ? 0 : 3})`;
  const closes = async () => by(await measureBalance(sql), 'balanceCloses')[''];
  await keep('2026-01-01', '2026-01-07', false);
  await keep('2026-01-02', '2026-01-08', true);
  expect(await closes()).toBe(0);
  await keep('2026-01-01', '2026-01-31', true);
  expect(await closes()).toBe(1);
});

test('verify tells whether its last run on the whole log found anything, and before the first how long nobody looked', async () => {
  expect(await measureVerify(sql)).toEqual({ verifyAge: [{ value: expect.any(Number) as number }] });
  await sql`
    insert into verify_verdicts (since, seals, rows, size, root, findings, found, finished, checked_at)
    values (0, 1, 5, 1, sha256('x'), 3, '[]', true, now() - interval '1 hour')`;
  const readings = await measureVerify(sql);
  expect([by(readings, 'verifyHolds'), by(readings, 'verifyFindings')]).toEqual([{ '': 0 }, { '': 3 }]);
  expect(readings.verifyAge?.[0]?.value).toBeCloseTo(3_600, -2);
});

test('sizes, epoch and missing migrations are told', async () => {
  const { pool } = database;
  const tables = await measureTables(sql);
  expect(Object.keys(by(tables, 'tableBytes'))).toEqual(expect.arrayContaining(['attempts', 'deliveries', 'events']));
  expect(Object.keys(by(tables, 'tableRows'))).toEqual(expect.arrayContaining(['deliveries', 'pending']));
  const readings = await measureInstallation(sql, pool.schema);
  expect(by(readings, 'pendingMigrations')).toEqual({ '': 0 });
  expect(readings.epoch?.[0]?.value).toBeGreaterThan(0);
});

test('however many ask at once, there is one look, and its answer is kept for a second', async () => {
  let runs = 0;
  let atMs = 0;
  const pool = { schema: 'carteiro', run: (work: never) => ((runs += 1), database.pool.run(work)) } as unknown as Pool;
  const read = measuring({ pool, log: silentLog, monotonicMs: () => atMs });
  const all = await Promise.all(Array.from({ length: 20 }, read));
  const looks = runs;
  expect(all.every((one) => one === all[0])).toBe(true);
  atMs = 900;
  await read();
  expect(runs).toBe(looks);
  atMs = 1_001;
  await read();
  expect(runs).toBe(2 * looks);
});

test('one measure that cannot be made leaves the others as they are', async () => {
  await sql`alter table balance_verdicts rename to elsewhere`;
  try {
    const warned: string[] = [];
    const log = { ...silentLog, warn: ({ measure }: { measure?: unknown }) => void warned.push(String(measure)) };
    const readings = await measuring({ pool: database.pool, log, monotonicMs: () => 0 })();
    expect(warned).toEqual(['balance']);
    expect([readings.balanceCloses, readings.overdue?.length, readings.epoch?.length]).toEqual([undefined, 3, 1]);
  } finally {
    await sql`alter table elsewhere rename to balance_verdicts`;
  }
});

test('no measure reads a large table from end to end, nor more of an index than its bound', async () => {
  await sql`
    insert into deliveries (event_id, webhook_id, partner_id, status, attempts, failures, finished_at, next_attempt_at)
    select gen_random_uuid(), ${webhookId}, ${partnerId}, case when n % 3 = 0 then 'pendente' when n % 3 = 1 then 'erro' else 'entregue' end, (n % 3 > 0)::int * 6,
           case when n % 3 = 1 then 6 else 0 end,
           case when n % 3 > 0 then now() end, case when n % 3 = 0 then now() - interval '1 minute' end
    from generate_series(1, 90000) n`;
  await sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, url, claim)
    select id, 1, webhook_id, partner_id, 'desconhecido', now(), 'https://partner.example/', 'old/1' from deliveries`;
  await sql`
    insert into pending (webhook_id, delivery_id, event_id, partner_id, due_at)
    select webhook_id, id, event_id, partner_id, next_attempt_at from deliveries where status = 'pendente'`;
  await commitEvents(sql, partnerId, 10);
  await sql`analyze deliveries, pending, attempts, events, lanes`;
  const pool = openPool(url, { name: 'metrics', settings: MEASURING_SETTINGS });
  const counting = await startCounting(url);
  const readings = await measuring({ pool, log: silentLog, monotonicMs: () => performance.now() })();
  await pool.close();
  // Ten of the 10,000 that it looked at have just come.
  expect(by(readings, 'overdue')).toMatchObject({ poller: 9_990 });
  // Beyond its bound it tells what the statistics know, of a sample of 6,000 rows, so that it goes on growing.
  const about30000: unknown = expect.toSatisfy((count: number) => count > 25_000 && count < 35_000, 'about 30,000');
  expect(by(readings, 'deliveries')).toMatchObject({ first: about30000, erro: about30000 });
  expect(by(readings, 'capped')).toMatchObject({ overdue: 1, pending: 1, erro: 1, suspensa: 0 });
  expect(await counting.readFromEndToEnd()).toEqual([]);
  for (const table of ['deliveries', 'attempts', 'events']) {
    expect((await counting.of(table)).entries).toBeLessThan(50_000);
  }
});
