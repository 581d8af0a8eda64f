/** Thousands of webhooks that stop being `falhando` at once: in several transactions, and a crash between two of them. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Pool, Sql, Tx } from '../../../src/db/pool.ts';
import {
  forgetFailing,
  forgetLeft,
  LEFT_AFTER_S,
  detectFailing,
  type Step,
} from '../../../src/delivery/queue/maintenance/failing.ts';
import { useEmptyDatabase } from '../../support/one-webhook.ts';
import { insertPartner } from '../../support/outbox.ts';

const POLICY = { failingAfter: 3, failingHours: 2, suspendAfterDays: 3 };

let partnerId: string;
const database = await useEmptyDatabase();
const { pool, sql } = database;
beforeEach(async () => {
  partnerId = await insertPartner(sql);
  await look();
});

const look = (atOnce?: number, on = pool) =>
  detectFailing(on, POLICY, { restS: 0, ...(atOnce === undefined ? {} : { atOnce }) });

/** Takes steps until one says that it was the last. Returns how many webhooks each has changed. */
async function takeAll(take: () => Promise<Step | null>): Promise<number[]> {
  const made: number[] = [];
  for (let hasMore = true; hasMore;) {
    const step = await take();
    if (step === null) throw new Error('somebody else looks');
    made.push(step.changes.length);
    hasMore = step.hasMore;
  }
  return made;
}

/** Webhooks that are `falhando` for a day, in the order of their ids. */
async function makeFailing(count: number): Promise<string[]> {
  await sql`
    insert into webhooks (id, partner_id, url, events, encrypted_secret)
    select uuidv7(), ${partnerId}, 'https://partner.example/', '{desembolso.falhou}', 'secret'
    from generate_series(1, ${count}::int)`;
  await sql`update lanes set failing_since = now() - interval '1 day'`;
  await sql`
    insert into failing_runs (webhook_id, partner_id, failures, first_failed_at, last_failed_at, last_outcome, last_status_code)
    select id, partner_id, 9, now() - interval '2 days', now() - interval '1 hour', 'resposta_nao_2xx', 500 from webhooks`;
  return (await sql<{ id: string }[]>`select id from webhooks order by id`).map(({ id }) => id);
}

const countFalhando = async () => (await sql`select from lanes where failing_since is not null`).length;
/** How many webhooks have how many lines of history, by reason. */
const readEnds = () => sql<{ reason: string; webhooks: number; lines: number }[]>`
  select reason, count(distinct webhook_id)::int as webhooks, count(*)::int as lines
  from webhook_history where change = 'fim_da_falha' group by reason order by reason`;

/** A process that dies at the end of its transaction. */
const dying = () =>
  ({
    transaction: (work: (tx: Tx) => Promise<unknown>) =>
      pool.transaction(async (tx) => {
        await work(tx);
        throw new Error('the process has died');
      }),
  }) as unknown as Pool;

describe('when many webhooks recover at once', () => {
  test('1,200 of them are ended by three transactions; a process that dies in between leaves the others to the next', async () => {
    await makeFailing(1_200);
    await sql`delete from failing_runs`;
    expect(await look()).toMatchObject({ hasMore: true });
    await expect(look(undefined, dying())).rejects.toThrow('the process has died');
    expect(await countFalhando()).toBe(700);
    expect(await takeAll(look)).toEqual([500, 200]);
    expect(await countFalhando()).toBe(0);
    expect(await readEnds()).toEqual([{ reason: 'voltou a responder bem', webhooks: 1_200, lines: 1_200 }]);
    expect(await look()).toEqual({ changes: [], hasMore: false });
  });

  test('one that was muted meanwhile counts from nothing, also when the look goes on after it is unmuted', async () => {
    await makeFailing(3);
    await sql`update partners set active = false`;
    expect(await look(2)).toMatchObject({ hasMore: true });
    await sql`update partners set active = true`;
    expect(await takeAll(() => look(2))).toEqual([0]);
    expect(await sql`select from failing_runs`).toHaveLength(1);
    expect(await countFalhando()).toBe(1);
    expect(await readEnds()).toEqual([{ reason: 'está silenciado ou inativo', webhooks: 2, lines: 2 }]);
  });
});

describe('when the policy is turned off', () => {
  test('1,200 webhooks are ended by three transactions, the last of which forgets the policy', async () => {
    await makeFailing(1_200);
    expect(await takeAll(() => forgetFailing(pool))).toEqual([500, 500, 200]);
    expect(await countFalhando()).toBe(0);
    expect(await readEnds()).toMatchObject([{ webhooks: 1_200, lines: 1_200 }]);
    expect([...(await sql`select from failing_policy`), ...(await sql`select from failing_runs`)]).toEqual([]);
  });

  test('a process that dies in between leaves the others to the next: each ends once', async () => {
    const ids = await makeFailing(12);
    await sql`update lanes set failing_since = null where webhook_id = ${ids[1] ?? ''}`;
    expect(await forgetFailing(pool, 5)).toMatchObject({ hasMore: true });
    await expect(forgetFailing(dying(), 5)).rejects.toThrow('the process has died');
    expect(await countFalhando()).toBe(6);
    expect(await sql`select from failing_policy`).toHaveLength(1);
    expect(await takeAll(() => forgetFailing(pool, 5))).toEqual([5, 1]);
    expect(await countFalhando()).toBe(0);
    expect(await readEnds()).toMatchObject([{ webhooks: 11, lines: 11 }]);
    expect(await sql`select from failing_policy`).toEqual([]);
  });
});

describe('what is left of a policy that no poller has any more', () => {
  /** As if the last look had been so many seconds ago. */
  const checkedBefore = (seconds: number, on: Sql | Tx = sql) =>
    on`update failing_policy set looked_at = now() - ${seconds} * interval '1 second'`;

  test('stays while somebody looked within five minutes, and then ends in as many transactions as it takes', async () => {
    await makeFailing(12);
    await checkedBefore(LEFT_AFTER_S - 60);
    expect(await forgetLeft(pool, 5)).toEqual({ changes: [], hasMore: false });
    expect(await countFalhando()).toBe(12);
    await checkedBefore(LEFT_AFTER_S + 1);
    expect(await takeAll(() => forgetLeft(pool, 5))).toEqual([5, 5, 2]);
    expect(await countFalhando()).toBe(0);
    expect([...(await sql`select from failing_policy`), ...(await sql`select from failing_runs`)]).toEqual([]);
    expect(await forgetLeft(pool)).toEqual({ changes: [], hasMore: false });
  });

  test('stays when somebody looks at the very moment', async () => {
    await makeFailing(2);
    await checkedBefore(LEFT_AFTER_S + 1);
    const { promise: goal, resolve: letGo } = Promise.withResolvers<void>();
    const { promise: held, resolve: reportHeld } = Promise.withResolvers<void>();
    const looking = pool.transaction(async (tx) => {
      await tx`select pg_advisory_xact_lock(advisory_lock('judging'))`;
      await checkedBefore(0, tx);
      reportHeld();
      await goal;
    });
    await held;
    const forgetting = forgetLeft(pool);
    await expect
      .poll(() => sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
      .toHaveLength(1);
    letGo();
    await looking;
    expect(await forgetting).toEqual({ changes: [], hasMore: false });
    expect(await countFalhando()).toBe(2);
  });

  test('an old poller that looks after all was forgotten, and then ends, leaves nothing for good', async () => {
    expect(await takeAll(() => forgetFailing(pool))).toEqual([0]);
    await look();
    await makeFailing(1);
    await checkedBefore(LEFT_AFTER_S + 1);
    expect((await forgetLeft(pool)).changes).toMatchObject([{ change: 'fim_da_falha' }]);
    expect(await countFalhando()).toBe(0);
    expect(await sql`select from failing_policy`).toEqual([]);
  });
});
