/** What changes a delivery while a claim of it is about to commit. */
import { expect, test } from 'vitest';
import type { Sql } from '../../../src/db/pool.ts';
import { advanceTime } from '../../../src/delivery/partner/advance.ts';
import { resendMany, resendOne } from '../../../src/delivery/partner/resend.ts';
import { cancelDelivery } from '../../../src/delivery/queue/orders/cancel.ts';
import { endForErasure } from '../../../src/delivery/queue/orders/end-for-erasure.ts';
import { record } from '../../../src/delivery/queue/record.ts';
import { DELIVERED, reportFor } from '../../support/delivered.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents } from '../../support/outbox.ts';
import { claimDue } from '../../support/poll.ts';

const { partnerId, webhookId, pool, sql } = await useOneWebhook();

async function isAnyBlocked(one: Sql): Promise<boolean> {
  const rows = await one`
    select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
  return rows.length > 0;
}

/** Claims the one retry that there is, and lets the claim commit once `work` waits for it. Returns both results. */
async function besideClaim<T>(work: () => Promise<T>) {
  await commitEvents(sql, partnerId, 1);
  const now = new Date(Date.now() + 1_000);
  const first = await pool.transaction((tx) => claimDue(tx, 'a/1', 1, now));
  const failed = { ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 500 } as const;
  const reports = first.deliveries.map((one) => reportFor(one, 'a/1', failed));
  await record(pool, reports, () => 0, now);
  const done = new AbortController();
  let working: Promise<T> | undefined;
  const claimed = await pool.transaction(async (tx) => {
    const { deliveries } = await claimDue(tx, 'a/2', 1, new Date(Date.now() + 3_600_000));
    working = work().finally(() => done.abort());
    while (!done.signal.aborted && !(await isAnyBlocked(sql)));
    return deliveries;
  });
  return { claimed, result: await (working as Promise<T>) };
}

test('the clock of the sandbox brings forward nothing that is about to be sent', async () => {
  const { claimed, result } = await besideClaim(() => pool.transaction((tx) => advanceTime(tx, partnerId, 60)));
  expect({ claimed: claimed.length, result }).toEqual({ claimed: 1, result: 0 });
  await record(
    pool,
    claimed.map((one) => reportFor(one, 'a/2', DELIVERED)),
    () => 0,
  );
  expect(await sql`select from pending`).toEqual([]);
});

test('a resend ends the attempt that is about to be sent, and its row stays', async () => {
  const author = { actor: 'test', requestId: null };
  const { result: id } = await besideClaim(async () => {
    const [one] = (await sql`select id from deliveries`) as unknown as [{ id: string }];
    await pool.transaction((tx) => resendOne(tx, partnerId, one.id, author));
    return one.id;
  });
  expect(await sql`select number, outcome from attempts where delivery_id = ${id} order by number`).toMatchObject([
    { number: 1, outcome: 'resposta_nao_2xx' },
    { number: 2, outcome: 'desconhecido' },
  ]);
  expect(await sql`select number from pending`).toEqual([{ number: 2 }]);
});

const AUTHOR = { actor: 'test', requestId: null };
const readOne = async () => {
  const [one] = await sql<[{ id: string; eventId: string }]>`select id, event_id as "eventId" from deliveries`;
  return one;
};

test.each<[string, () => Promise<unknown>, unknown]>([
  [
    'a cancellation',
    async () => {
      const { id } = await readOne();
      return pool.transaction((tx) => cancelDelivery(tx, id, AUTHOR));
    },
    { refused: { kind: 'deliveryInFlight' } },
  ],
  [
    'an erasure',
    async () => {
      const { eventId } = await readOne();
      return pool.transaction((tx) => endForErasure(tx, [eventId], [eventId], eventId));
    },
    false,
  ],
  [
    'a resend of many',
    () => {
      const period = { from: new Date(0), until: new Date(Date.now() + 60_000), events: null, after: null };
      const many = {
        partnerId,
        webhookId,
        ...period,
        statuses: ['pendente'] as const,
        simulate: false,
        author: AUTHOR,
      };
      return resendMany(pool, many, Infinity);
    },
    { ok: { count: 0, inFlight: 1, next: null } },
  ],
])('%s leaves alone what is about to be sent', async (_, work, expected) => {
  const { claimed, result } = await besideClaim(work);
  expect({ claimed: claimed.length, result }).toEqual({ claimed: 1, result: expected });
  expect(await sql`select from attempts where outcome = 'desconhecido'`).toEqual([]);
  expect(await sql`select number from pending`).toEqual([{ number: 1 }]);
});
