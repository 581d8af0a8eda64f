/** Which attempts a look of the policy for failing endpoints counts: each once, beside transactions that stay open. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Outcome } from '../../../src/contract/statuses.ts';
import type { Sql } from '../../../src/db/pool.ts';
import { lookForFailing } from '../../../src/delivery/queue/upkeep/failing.ts';
import { beginLook, endLook, readTroubled } from '../../../src/delivery/queue/upkeep/failing-runs.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';

const POLICY = { failingAfter: 3, failingHours: 2, suspendAfterDays: 3 };
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

const { pool, sql, partnerId, webhookId } = await useOneWebhook();
beforeEach(async () => {
  await look();
});

const look = async () => (await lookForFailing(pool, POLICY, { restS: 0 }))?.changes;
const countedFailures = async () => (await sql<{ failures: number }[]>`select failures from failing_runs`)[0]?.failures;

/** An attempt that was recorded and that ended so many seconds ago. */
async function insertAttempt(outcome: Outcome, recordedS: number, endedS = recordedS, on = sql): Promise<void> {
  await on`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url,
                          address, key_id, claim, recorded_at)
    values (uuidv7(), 1, ${webhookId}, ${partnerId}, ${outcome}, ${outcome === 'entregue' ? 200 : 500},
            now() - ${endedS} * interval '1 second', 0, 'https://x.example/', '203.0.113.7', 'k', 'p/1',
            now() - ${recordedS} * interval '1 second')`;
}
const fail = (recordedS: number, endedS?: number) => insertAttempt('resposta_nao_2xx', recordedS, endedS);

/** As if the last look had been so many seconds ago. */
const lookedBefore = (seconds: number) =>
  sql`update failing_policy set looked_at = now() - ${seconds} * interval '1 second'`;

/** Begins a transaction with a number of its own, runs `work`, then `beside` it while it is open, and commits it. */
async function holdOpen(work: (on: Sql) => Promise<unknown>, beside: () => Promise<void>): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_current_xact_id()`;
    await work(tx as unknown as Sql);
    await beside();
  });
}

describe('beside a transaction that stays open over several looks', () => {
  test('every attempt is counted once, however long ago it was recorded', async () => {
    await lookedBefore(600);
    await holdOpen(
      () => Promise.resolve(),
      async () => {
        for (const agoS of [590, 400, 200, 60]) {
          await fail(agoS);
          await look();
          await lookedBefore(agoS - 5);
        }
        await look();
      },
    );
    expect(await look()).toEqual([]);
    expect(await countedFailures()).toBe(4);
    await look();
    expect(await countedFailures()).toBe(4);
  });

  test('a success prevents the suspension of a webhook that works, and ends its state at once', async () => {
    for (const hour of [4, 2, 1]) await fail(0, 5 * DAY_S + hour * HOUR_S);
    expect(await look()).toEqual([{ webhookId, change: 'falhando' }]);
    await sql`update lanes set failing_since = now() - interval '5 days'`;
    await lookedBefore(600);
    let changes: unknown;
    await holdOpen(
      () => Promise.resolve(),
      async () => {
        await insertAttempt('entregue', 590);
        changes = await look();
        await lookedBefore(300);
        await look();
      },
    );
    await fail(0);
    expect(await look()).toEqual([]);
    expect(await sql`select active from webhooks`).toEqual([{ active: true }]);
    expect(await countedFailures()).toBe(1);
    expect(changes).toEqual([{ webhookId, change: 'fim_da_falha' }]);
  });

  test('a record that is this transaction is counted once it commits, and nothing twice', async () => {
    await fail(10);
    await holdOpen(
      (on) => insertAttempt('resposta_nao_2xx', 5, 5, on),
      async () => {
        await fail(2);
        await look();
        expect(await countedFailures()).toBe(2);
        await look();
        expect(await countedFailures()).toBe(2);
      },
    );
    await look();
    expect(await countedFailures()).toBe(3);
    await look();
    expect(await countedFailures()).toBe(3);
  });

  test('a success that is this transaction ends the run once it commits', async () => {
    await fail(10);
    await holdOpen(
      (on) => insertAttempt('entregue', 5, 5, on),
      async () => {
        await sql`select pg_current_xact_id()`;
        await look();
        expect(await countedFailures()).toBe(1);
      },
    );
    await look();
    expect(await countedFailures()).toBeUndefined();
  });
});

test('what commits while a look reads is left to the next one', async () => {
  await fail(5);
  await pool.transaction(async (tx) => {
    const span = await beginLook(tx, POLICY, 0);
    if (span === null) throw new Error('somebody else looks');
    await fail(1);
    const kept = (await readTroubled(tx, span)).map((one) => Object.assign(one, { run: one.news.fresh }));
    expect(kept.map(({ run }) => run?.failures)).toEqual([1]);
    await endLook(tx, POLICY, span, kept);
  });
  await look();
  expect(await countedFailures()).toBe(2);
});

test('after a failover the new server counts what it writes, and of the old one what no look had seen', async () => {
  await sql`update failing_policy set epoch = epoch - 1, snapshot = '9000000:9000005:9000002'`;
  await fail(1);
  for (const tx of ['8999999', '9000001', '9000002', '9000007']) {
    await fail(1);
    await sql`
      update attempts set epoch = epoch - 1, tx = ${tx}::text::xid8
      where delivery_id = (select delivery_id from attempts order by delivery_id desc limit 1)`;
  }
  await look();
  expect(await countedFailures()).toBe(3);
  await look();
  expect(await countedFailures()).toBe(3);
});

test('a look reads by their indexes the failures since the last one and what was delivered for their partners, no more', async () => {
  await sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url,
                          address, key_id, claim, recorded_at)
    select uuidv7(), 1, ${webhookId}, ${partnerId}, case n % 2 when 0 then 'entregue' else 'resposta_nao_2xx' end,
           case n % 2 when 0 then 200 else 500 end, now(), 0, 'https://x.example/', '203.0.113.7', 'k', 'p/1',
           now() - interval '1 day'
    from generate_series(1, 4000) n`;
  await look();
  await insertAttempt('entregue', 2);
  await fail(1);
  const read = (on: Sql) => on<{ name: string; entries: number }[]>`
    select relname as name, (pg_stat_get_xact_tuples_returned(c.oid))::int as entries
    from pg_class c
    where relname in ('attempts', 'attempts_failed', 'attempts_by_partner', 'attempts_in_time') order by 1`;
  await pool.transaction(async (tx) => {
    const before = await read(tx as unknown as Sql);
    const span = await beginLook(tx, POLICY, 0);
    if (span === null) throw new Error('somebody else looks');
    await readTroubled(tx, span);
    const after = await read(tx as unknown as Sql);
    expect(after.map(({ name, entries }, at) => [name, entries - (before[at]?.entries ?? 0)])).toEqual([
      ['attempts', 0],
      ['attempts_by_partner', 2],
      ['attempts_failed', 1],
      ['attempts_in_time', 0],
    ]);
  });
});
