/** A partner with more pending deliveries than its deactivation suspends in one transaction: nothing leaves, and the rest follows. */
import { beforeEach, expect, test } from 'vitest';
import { addUp } from '../../../src/audit/add-up-balance.ts';
import { readBalance } from '../../../src/audit/balance.ts';
import { dayOf } from '../../../src/contract/calendar.ts';
import { claimDue, pollLanes } from '../../support/poll.ts';
import { SUSPENDED_AT_ONCE, suspendUnclaimed } from '../../../src/delivery/queue/orders/suspend.ts';
import { Sweeper } from '../../../src/delivery/queue/maintenance/sweep.ts';
import { deactivatePartner, reactivatePartner, untilGone } from '../../../src/admin/off-boarding.ts';
import { lockForOperator } from '../../../src/webhooks/muting.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitMarginEvents, insertWebhook } from '../../support/outbox.ts';
import { silentLog } from '../../support/silent-log.ts';

const AT_ONCE = 10_000;
const LEFT = 1_200;
const LATER = 300;
/** Each makes a delivery for either webhook. */
const EVENTS = (AT_ONCE + LEFT) / 2;
const ANA = { actor: 'operador:ana', reason: 'contrato encerrado' };

let now: Date;

const { pool, sql, partnerId } = await useOneWebhook();
beforeEach(async () => {
  await insertWebhook(sql, partnerId, 'https://other.example/');
  await sql`update webhooks set events = '{margem.falhou}'`;
  await sql`insert into webhook_history (webhook_id, partner_id, url, events, active, actor)
            select id, partner_id, url, events, active, 'test' from webhooks`;
  await commitMarginEvents(sql, partnerId, EVENTS);
  await sql`
    update deliveries set next_attempt_at = next_attempt_at + interval '6 hours'
    where id in (select id from deliveries order by id desc limit ${LATER})`;
  now = new Date(Date.now() + 1_000);
});

const letGo = () => pool.transaction((tx) => deactivatePartner(tx, partnerId, ANA));
const counts = async () => {
  const rows = await sql<{ status: string; count: number }[]>`
    select status, count(*)::int as count from deliveries group by status`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
};
async function untilOneWaits(or: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  void or.finally(() => over.abort()).catch(() => undefined);
  while (!over.signal.aborted) {
    const rows = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    if (rows.length > 0) return;
  }
}
const attempted = async () => {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from deliveries where attempts > 0 or id in (select delivery_id from flights())`;
  return row.count;
};
async function balance(): Promise<object> {
  const day = dayOf(new Date());
  const { linhas, diferencas } = await addUp(readBalance(pool, day, day), day, day, 10);
  return { ...linhas[0], diferencas };
}

test('the deactivation suspends a bounded number, ends and writes the rest of it, and the balance counts both', async () => {
  expect(await letGo()).toEqual({ ok: true });
  expect(await counts()).toEqual({ suspensa: AT_ONCE, pendente: LEFT });
  expect(await sql`select active from partners`).toEqual([{ active: false }]);
  expect(await sql`select change, actor, reason from partner_history`).toEqual([{ change: 'desativacao', ...ANA }]);
  expect(await balance()).toMatchObject({
    eventos: EVENTS,
    esperadas: AT_ONCE + LEFT,
    pendente: LEFT,
    suspensa: AT_ONCE,
    diferencas: [],
  });
});

test('what is left is never claimed, and the pollers suspend it, what is due later with it', async () => {
  await letGo();
  for (let poll = 1; poll <= 5; poll += 1) expect(await pollLanes(pool, `p/${poll}`, 100, now)).toEqual([]);
  expect(await counts()).toEqual({ suspensa: AT_ONCE + LEFT });
  expect(await attempted()).toBe(0);
});

test('no claim takes of what is left, however late it is suspended', async () => {
  await letGo();
  const later = new Date(now.getTime() + 7 * 3_600_000);
  for (let poll = 1; poll <= 3; poll += 1) {
    const claimed = await pool.transaction((tx) => claimDue(tx, `p/${poll}`, 100, later));
    expect(claimed.deliveries).toEqual([]);
    expect(claimed.inactive).not.toEqual([]);
  }
  expect(await counts()).toEqual({ suspensa: AT_ONCE, pendente: LEFT });
});

test('its poller ends, and the lane is muted: the sweep suspends the rest', async () => {
  await letGo();
  await sql`update lanes set muted_at = now()`;
  let atMs = 0;
  const sweeper = new Sweeper({ pool, log: silentLog, monotonicMs: () => atMs, now: () => now });
  atMs = 30_000;
  await sweeper.sweepNowAndThen();
  expect(await counts()).toEqual({ suspensa: AT_ONCE + LEFT });
  expect(await attempted()).toBe(0);
});

test('the command suspends the rest before it says that the partner is gone', async () => {
  await letGo();
  const reported: string[] = [];
  const gone = await untilGone(pool, partnerId, (sentence) => reported.push(sentence));
  expect(gone).toEqual({ suspended: AT_ONCE + LEFT, wereInFlight: 0 });
  expect(reported).toEqual(['1000 deliveries more are suspensa', '1200 deliveries more are suspensa']);
});

test.each(['ends well', 'fails'])(
  'the command counts what a poller is suspending beside it, when that %s',
  async (how) => {
    await letGo();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const { promise: batched, resolve: notifyBatched } = Promise.withResolvers<number>();
    const hooks = (await sql<{ id: string }[]>`select id from webhooks`).map(({ id }) => id);
    const poller = sql
      .begin(async (tx) => {
        notifyBatched(await suspendUnclaimed(tx, hooks));
        await ended;
        if (how === 'fails') throw new Error('the poller ends');
      })
      .catch(() => undefined);
    try {
      expect(await batched).toBe(SUSPENDED_AT_ONCE);
      const gone = untilGone(pool, partnerId, () => undefined);
      await untilOneWaits(gone);
      end();
      expect(await gone).toEqual({ suspended: AT_ONCE + LEFT, wereInFlight: 0 });
      expect(await counts()).toEqual({ suspensa: AT_ONCE + LEFT });
    } finally {
      end();
      await poller;
    }
  },
);

test('let back in before all is suspended, it is sent only what is new', async () => {
  await letGo();
  expect(await reactivatePartner(pool, partnerId, ANA)).toEqual({ ok: { suspended: AT_ONCE + LEFT } });
  await commitMarginEvents(sql, partnerId, 1);
  const later = new Date(Date.now() + 7 * 3_600_000);
  expect(await pollLanes(pool, 'p/1', 100, later)).toHaveLength(2);
  expect(await counts()).toEqual({ suspensa: AT_ONCE + LEFT, pendente: 2 });
  // The deactivation, a full batch, and the rest: no transaction held more than that.
  expect(
    await sql`select count(*)::int as count from deliveries where status = 'suspensa' group by xmin::text order by 1`,
  ).toEqual([LEFT - SUSPENDED_AT_ONCE, SUSPENDED_AT_ONCE, AT_ONCE].map((count) => ({ count })));
});

test('let back in while a poller suspends a batch and fails, it is sent nothing of that batch', async () => {
  await letGo();
  const { promise: failed, resolve: fail } = Promise.withResolvers<void>();
  const { promise: batched, resolve: notifyBatched } = Promise.withResolvers<number>();
  const hooks = (await sql<{ id: string }[]>`select id from webhooks`).map(({ id }) => id);
  const poller = sql
    .begin(async (tx) => {
      notifyBatched(await suspendUnclaimed(tx, hooks));
      await failed;
      throw new Error('the poller ends');
    })
    .catch((error: unknown) => error);
  try {
    expect(await batched).toBe(SUSPENDED_AT_ONCE);
    const back = reactivatePartner(pool, partnerId, ANA);
    await untilOneWaits(back);
    fail();
    expect(await back).toEqual({ ok: { suspended: AT_ONCE + LEFT } });
    expect(await counts()).toEqual({ suspensa: AT_ONCE + LEFT });
  } finally {
    fail();
    expect(await poller).toEqual(new Error('the poller ends'));
  }
});

test('let back in while an operator changes its webhooks, it is sent nothing old', async () => {
  await letGo();
  const { promise: changed, resolve: goOn } = Promise.withResolvers<void>();
  const { promise: locked, resolve: reportLocked } = Promise.withResolvers<void>();
  const hooks = await sql<{ id: string }[]>`select id from webhooks order by id`;
  const changing = pool.transaction(async (tx) => {
    for (const { id } of hooks) await lockForOperator(tx, id);
    reportLocked();
    await changed;
  });
  try {
    await locked;
    const back = reactivatePartner(pool, partnerId, ANA);
    await untilOneWaits(back);
    goOn();
    expect(await back).toEqual({ ok: { suspended: AT_ONCE + LEFT } });
    expect(await counts()).toEqual({ suspensa: AT_ONCE + LEFT });
  } finally {
    goOn();
    await changing;
  }
});

test('let back in by hand before all is suspended, it is sent what was still pending, and no more', async () => {
  await letGo();
  await sql`update partners set active = true`;
  const later = new Date(now.getTime() + 7 * 3_600_000);
  expect((await pollLanes(pool, 'p/1', 100, later)).length).toBeGreaterThan(0);
  expect(await counts()).toEqual({ suspensa: AT_ONCE, pendente: LEFT });
});
