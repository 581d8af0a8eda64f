/** What src/log/README.md says of a core's transactions: what an append locks, and what waits while one is prepared. */
import { randomUUID } from 'node:crypto';
import type postgres from 'postgres';
import { afterEach, expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import type { Sql } from '../../src/db/pool.ts';
import { connectTo } from '../support/connect.ts';
import { createTestDatabase, openPool } from '../support/database.ts';
import { deliverAll, endLeases, expectToGoOn, live, readOn } from '../support/lived-database.ts';
import { createLogin } from '../support/logins.ts';
import { migrated } from '../support/migrated.ts';
import { commitEvents, insertPartner, insertSubscriber } from '../support/outbox.ts';
import { FAILED_DISBURSEMENT, LOAN, PROCESSED_SETTLEMENT } from '../support/payloads.ts';
import { startPrivateServer } from '../support/private-server.ts';
import { startReceiver } from '../support/receiver.ts';

const WAITED_TOO_LONG = '55P03';
/** A session waits for no lock. */
const CORE = { search_path: 'carteiro', lock_timeout: 1 };
const database = await createTestDatabase();
const login = await createLogin(database, 'carteiro_core');
/** Sessions of the core. */
const core = connectTo(login.url, { max: 12, connection: CORE });
const { partnerId } = await insertSubscriber(database.sql, 'https://partner.example/', [
  'desembolso.falhou',
  'repasse.processado',
]);

type Session = Awaited<ReturnType<Sql['reserve']>>;

const append = (session: Sql, stream: string, partner = partnerId, version = 0) => session`
  select append_event(${stream}, ${version}, 'desembolso.falhou', ${partner},
                      ${FAILED_DISBURSEMENT.replaceAll(LOAN, stream)}::text::json, 'core')`;

const begun = new Set<Session>();
afterEach(async () => {
  for (const session of begun) await end(session, 'rollback');
});

async function begin(sql: Sql): Promise<Session> {
  const session = await sql.reserve();
  await session`begin`;
  begun.add(session);
  return session;
}

async function end(session: Session, statement = 'commit'): Promise<void> {
  begun.delete(session);
  await session.unsafe(statement);
  session.release();
}

test('serializable transactions of unrelated loans collide; a core that begins again at 40001 has each event once', async () => {
  const settings = { search_path: 'carteiro', default_transaction_isolation: 'serializable' } as const;
  const sessions = connectTo(login.url, { max: 8, connection: settings });
  const retries: number[] = [];
  const settle = async (stream: string) => {
    for (let tries = 0; ; tries += 1) {
      try {
        await sessions.begin(async (tx) => {
          const [{ version }] = await tx<[{ version: number }]>`select stream_version(${stream}) as version`;
          await append(tx as never, stream, partnerId, version);
        });
        return retries.push(tries);
      } catch (error) {
        if ((error as postgres.PostgresError).code !== '40001') throw error;
      }
    }
  };
  const streams = Array.from({ length: 400 }, () => randomUUID());
  await Promise.all(streams.map(settle));
  const [counted] = await database.sql`
    select count(*)::int as events, count(distinct e.stream)::int as loans, count(d.id)::int as deliveries
    from events e left join deliveries d on d.event_id = e.id where e.stream = any (${streams})`;
  expect(counted).toEqual({ events: 400, loans: 400, deliveries: 400 });
  const sum = retries.reduce((all, one) => all + one, 0);
  console.log(
    `serializable: ${sum} retries for 400 appends to unrelated loans, ${Math.max(...retries)} at most for one`,
  );
});

test('an append waits for none of eight that stay open, and locks no row and nothing that another append asks for', async () => {
  const open = await Promise.all(Array.from({ length: 8 }, () => begin(core)));
  for (const session of open) await append(session, randomUUID());
  const late = await begin(core);
  await append(late, randomUUID());
  const held = await database.sql<{ what: string }[]>`
    select distinct case l.locktype
             when 'advisory' then 'advisory ' || l.objid
             when 'relation' then coalesce(t.relname, 'index')
             else l.locktype end || ': ' || l.mode || case when l.granted then '' else ', waited for' end as what
    from pg_locks l left join pg_class t on t.oid = l.relation and t.relkind in ('r', 'v')
    where l.pid = any (select pid from pg_stat_activity where usename = ${new URL(login.url).username})
    order by 1`;
  expect(held.map(({ what }) => what)).toEqual([
    // Shared, and tried without waiting: what an idle poller looks at.
    'advisory 1: ShareLock',
    'deliveries: RowExclusiveLock',
    'events: AccessShareLock',
    'events: RowExclusiveLock',
    'index: AccessShareLock',
    'index: RowExclusiveLock',
    'installation: AccessShareLock',
    'loans: AccessShareLock',
    'partners: AccessShareLock',
    'pending: RowExclusiveLock',
    'seals: AccessShareLock',
    'transactionid: ExclusiveLock',
    'virtualxid: ExclusiveLock',
    'webhooks: AccessShareLock',
  ]);
  for (const session of [...open, late]) await end(session);
});

test('an append to the same stream waits for the first one’s end, no longer than its lock_timeout, and then is CT409', async () => {
  const stream = randomUUID();
  const first = await begin(core);
  await append(first, stream);
  const second = await begin(core);
  await expect(append(second, stream)).rejects.toMatchObject({ code: WAITED_TOO_LONG });
  await end(second, 'rollback');
  await end(first);
  await expect(append(core, stream)).rejects.toMatchObject({ code: 'CT409' });
});

function close(session: Sql, month: string) {
  const stream = randomUUID();
  const data = { ...(JSON.parse(PROCESSED_SETTLEMENT) as object), repasse_id: stream, competencia: month };
  return session`
    select append_event(${stream}, 0, 'repasse.processado', ${partnerId}, ${JSON.stringify(data)}::text::json, 'core')`;
}

test('two closings of one month queue; other months and events of the partner do not wait for them', async () => {
  const first = await begin(core);
  await close(first, '2026-01');
  const second = await begin(core);
  await append(second, randomUUID());
  await close(second, '2026-02');
  await expect(close(second, '2026-01')).rejects.toMatchObject({ code: WAITED_TOO_LONG });
  await end(second, 'rollback');
  await end(first);
});

test('while an append is prepared, a crash loses nothing of it; it holds back feed and seals, and no other delivery', async () => {
  const server = await migrated(startPrivateServer({ max_prepared_transactions: '5' }));
  const receiver = await startReceiver();
  const before = open(server.url);
  const { sql } = before;
  const lived = await live(before.pool, sql, receiver);
  const [ours, undone] = [randomUUID(), randomUUID()];
  for (const [stream, name] of [[ours, 'ours'] as const, [undone, 'undone'] as const]) {
    const session = await begin(sql);
    await append(session, stream, lived.partnerId);
    await end(session, `prepare transaction '${name}'`);
  }
  await sealAll(before.pool);
  const sealed = await verifySeals(before.pool);
  const read = await readOn(before.pool, lived.partnerId);
  await commitEvents(sql, lived.partnerId, 3);
  const posted = receiver.posts.length;
  await deliverAll(before.pool);
  expect(receiver.posts.length).toBeGreaterThanOrEqual(posted + 3);
  await sealAll(before.pool);
  expect(await verifySeals(before.pool)).toEqual(sealed);
  expect((await readOn(before.pool, lived.partnerId)).ids).toEqual(read.ids);
  expect(await sql`select stream_version(${ours}) as version`).toEqual([{ version: 0 }]);
  const late = await begin(sql);
  await expect(append(late, ours, lived.partnerId)).rejects.toMatchObject({ code: WAITED_TOO_LONG });
  await end(late, 'rollback');
  await before.close();

  await server.stopImmediately();
  await server.start();
  const after = open(server.url);
  await after.sql`commit prepared 'ours'`;
  await after.sql`rollback prepared 'undone'`;
  await endLeases(after.sql);
  await expectToGoOn(after.pool, after.sql, lived, read);
  const streams = receiver.posts.map(
    ({ body }) => (JSON.parse(String(body)) as { data: { emprestimo_id: string } }).data.emprestimo_id,
  );
  expect([streams.filter((stream) => stream === ours).length, streams.includes(undone)]).toEqual([1, false]);
  await after.close();
});

function open(url: string) {
  const pool = openPool(url, { max: 6 });
  const sql = connectTo(url, { max: 10, connection: { ...CORE, TimeZone: 'UTC' } });
  return { pool, sql, close: () => Promise.all([pool.close(1), sql.end({ timeout: 1 })]) };
}

test('an append reads one event of the log, by a plan that was made while the log was empty, too', async () => {
  const fresh = await createTestDatabase();
  const [partner, stream] = [await insertPartner(fresh.sql), randomUUID()];
  const rows = await fresh.sql.begin(async (tx) => {
    for (let version = 0; version < 50; version += 1) {
      const data = FAILED_DISBURSEMENT.replace(LOAN, stream);
      await tx`select append_event(${stream}, ${version}, 'desembolso.falhou', ${partner}, ${data}::text::json, 'core')`;
    }
    return tx`
      select idx_tup_fetch::int as found, seq_tup_read::int as passed from pg_stat_xact_user_tables
      where relname = 'events' and schemaname = 'carteiro'`;
  });
  expect(rows).toEqual([{ found: 49, passed: 0 }]);
});
