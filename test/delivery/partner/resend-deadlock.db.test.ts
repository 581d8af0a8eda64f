/** Resends that meet other transactions: a batch that meets one crosswise is tried again, and a resend by id meets none so. */
import { beforeEach, expect, test } from 'vitest';
import type { Pool } from '../../../src/db/pool.ts';
import { codeOf } from '../../../src/db/unavailable.ts';
import { resumeWhile } from '../../../src/delivery/partner/activation.ts';
import { type ManyToResend, resendMany, resendOne } from '../../../src/delivery/partner/resend.ts';
import { changeWebhook } from '../../../src/webhooks/changes.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents, readDeliveries } from '../../support/outbox.ts';

let many: ManyToResend;
let ids: string[];

const { pool, sql, partnerId, webhookId } = await useOneWebhook();
beforeEach(async () => {
  await commitEvents(sql, partnerId, 3);
  await sql`update deliveries set status = 'erro', next_attempt_at = null, finished_at = now()`;
  ids = (await readDeliveries(sql, webhookId)).map(({ id }) => id);
  many = {
    partnerId,
    webhookId,
    from: new Date(Date.now() - 3_600_000),
    until: new Date(Date.now() + 3_600_000),
    statuses: ['erro'],
    events: null,
    after: null,
    simulate: false,
    author: { actor: 'test', requestId: null },
  };
});

/** The same pool, that writes down what each transaction came to; one that failed ends only after `goal`. */
function watched(
  transaction: Pool['transaction'],
  goal?: Promise<void>,
): { readonly pool: Pool; readonly ends: string[] } {
  const ends: string[] = [];
  const watching: Pool['transaction'] = async (...args) => {
    try {
      const result = await transaction(...args);
      ends.push('committed');
      return result;
    } catch (error) {
      ends.push(codeOf(error) ?? 'no code');
      await goal;
      throw error;
    }
  };
  return { pool: { transaction: watching } as Pool, ends };
}

/** A transaction that holds a delivery until it is let go, and may ask for a second one. */
async function holding(id: string) {
  const { promise: goal, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<string | null>();
  const { promise: held, resolve: reportHeld } = Promise.withResolvers<void>();
  const { promise: hasBoth, resolve: reportBoth } = Promise.withResolvers<void>();
  const over = sql.begin(async (tx) => {
    // It never looks for deadlocks: whoever waits for it does, and is the one that PostgreSQL ends.
    await tx`set local deadlock_timeout = '1h'`;
    await tx`select from deliveries where id = ${id} for update`;
    reportHeld();
    const second = await asked;
    if (second !== null) await tx`select from deliveries where id = ${second} for update`;
    reportBoth();
    await goal;
  });
  await held;
  return { ask, hasBoth, end: () => (ask(null), letGo(), over) };
}

async function untilWaiting(count: number): Promise<void> {
  for (;;) {
    const rows = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    if (rows.length === count) return;
  }
}

test('a batch that PostgreSQL ends for a deadlock is tried again, and resends all', async () => {
  const [first = '', second = '', third = ''] = ids;
  const gate = await holding(second);
  const other = await holding(third);
  const { pool: watchedPool, ends } = watched(pool.transaction.bind(pool), other.hasBoth);
  const resending = resendMany(watchedPool, many, Number.POSITIVE_INFINITY);
  // The batch has the first delivery and waits at the gate; the other waits for the first, and closes the circle once
  // the gate is open. A new try that came before the other has woken would take the first from it, and close it again.
  await untilWaiting(1);
  other.ask(first);
  await untilWaiting(2);
  await gate.end();
  await expect.poll(() => ends).toEqual(['40P01']);
  await other.end();
  expect(await resending).toEqual({ ok: { count: 3, inFlight: 0, next: null } });
  expect(ends).toEqual(['40P01', 'committed']);
  expect((await readDeliveries(sql, many.webhookId)).map(({ status }) => status)).toEqual(Array(3).fill('pendente'));
  const [{ orders }] = await sql<[{ orders: number }]>`
    select count(*)::int as orders from send_orders where webhook_id = ${many.webhookId}`;
  expect(orders).toBe(1);
});

test.each([
  ['40P01', 5],
  ['23514', 1],
])('a batch that fails with %s every time is tried %i times', async (code, tries) => {
  const { pool: failing, ends } = watched(() => Promise.reject(Object.assign(new Error('no'), { code })));
  await expect(resendMany(failing, many, Number.POSITIVE_INFINITY)).rejects.toMatchObject({ code });
  expect(ends).toEqual(Array(tries).fill(code));
});

/**
 * The deactivation is stopped where it has waited for its turn at the webhook, and the webhook is free: a resumption passes it,
 * and a resend that came after the deactivation waits behind it.
 */
test('a resend by id, a resumption and a deactivation queued between them do not wait for each other in a circle', async () => {
  const { partnerId, webhookId, author } = many;
  await sql`update deliveries set status = 'suspensa', finished_at = null`;
  const { promise: goal, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: held, resolve: reportHeld } = Promise.withResolvers<void>();
  const before = sql.begin(async (tx) => {
    await tx`select from webhooks where id = ${webhookId} for no key update`;
    reportHeld();
    await goal;
  });
  await held;
  const { promise: deactivator, resolve: notifyDeactivator } = Promise.withResolvers<number>();
  const deactivating = pool.transaction(async (tx) => {
    const [{ pid }] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`;
    notifyDeactivator(pid);
    return changeWebhook(tx, { ...author, partnerId, id: webhookId }, { active: false });
  });
  const pid = await deactivator;
  await untilWaiting(1);
  const resending = pool.transaction((tx) => resendOne(tx, partnerId, ids[1] ?? '', author));
  await untilWaiting(2);
  process.kill(pid, 'SIGSTOP');
  let resuming: ReturnType<typeof resumeWhile>;
  try {
    letGo();
    await before;
    resuming = resumeWhile(pool, webhookId, author, Number.POSITIVE_INFINITY);
    await Promise.race([resuming, untilWaiting(3)]);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  expect(await Promise.allSettled([resuming, deactivating, resending])).toMatchObject([
    { value: { ok: 'resumed' } },
    { value: { ok: { ativo: false } } },
    { value: { refused: { kind: 'webhookInactive' } } },
  ]);
});
