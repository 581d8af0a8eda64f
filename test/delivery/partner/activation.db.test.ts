/** Loans in order while their suspended deliveries are resumed, when many wait behind those, and when nobody resumes them. */
import { beforeEach, expect, test } from 'vitest';
import { leaveToResume, leaveToSuspend, resumeWhile } from '../../../src/delivery/partner/activation.ts';
import { claimDue, pollLanes } from '../../support/poll.ts';
import { record } from '../../../src/delivery/queue/record.ts';
import { setInOrder } from '../../../src/delivery/queue/orders/lane.ts';
import { deactivatePartner } from '../../../src/admin/off-boarding.ts';
import { DELIVERED, reportFor } from '../../support/delivered.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { rowsScanned } from '../../support/counters.ts';
import { commitEvents } from '../../support/outbox.ts';
import { failedDisbursementOf } from '../../support/payloads.ts';

const AUTHOR = { actor: 'test', requestId: null };
const LOANS = 5;

let nowMs: number;
let streams: string[];

const { database, pool, sql, partnerId, webhookId } = await useOneWebhook();
beforeEach(async () => {
  streams = Array.from({ length: LOANS }, () => crypto.randomUUID());
  await pool.transaction((tx) => setInOrder(tx, webhookId, true));
  await append(0, 1);
  await setActive(false);
  await pollLanes(pool, 'p/0', 100, new Date(nowMs));
  await setActive(true);
  await pool.transaction((tx) => leaveToResume(tx, webhookId));
});

/** Appends `count` events to each loan, from `version` on; turns are after that, however slow the machine is. */
async function append(version: number, count: number): Promise<void> {
  for (const stream of streams) {
    await sql`
      select append_event(${stream}, version, 'desembolso.falhou', ${partnerId}, ${failedDisbursementOf(stream)}::text::json, 'test')
      from generate_series(${version}::int, ${version + count - 1}::int) version`;
  }
  nowMs = Date.now() + 1;
}

async function setActive(active: boolean): Promise<void> {
  await pool.transaction(async (tx) => {
    await tx`update webhooks set active = ${active} where id = ${webhookId}`;
    if (!active) await leaveToSuspend(tx, webhookId);
  });
}

/** Takes a turn `atS` later; how many it took, and how many rows of deliveries it wrote. */
async function poll(atS: number): Promise<{ taken: number; written: number }> {
  const now = new Date(nowMs + atS * 1_000);
  return pool.transaction(async (tx) => {
    const count = async () => {
      const [row] = await tx<[{ written: number }]>`
        select pg_stat_get_xact_tuples_updated('deliveries'::regclass)::int as written`;
      return row.written;
    };
    const before = await count();
    const { deliveries } = await claimDue(tx, `p/${atS}`, 100, now);
    return { taken: deliveries.length, written: (await count()) - before };
  });
}

test('no turn takes what waits for suspended deliveries, or writes anything of it', async () => {
  await append(1, 1);
  for (const atS of [0, 1, 30, 299]) expect(await poll(atS)).toEqual({ taken: 0, written: 0 });
});

test('a resumption that died holds nobody back for longer than five minutes', async () => {
  await append(1, 1);
  expect(await poll(299)).toMatchObject({ taken: 0 });
  expect(await poll(300)).toMatchObject({ taken: LOANS });
});

test('once a resumption is over, what waited for it goes out by version, and what is tried again later waits on', async () => {
  await append(1, 2);
  const [{ id }] = await sql<[{ id: string }]>`
    update deliveries set next_attempt_at = now() + interval '1 minute'
    where id = (select max(id::text)::uuid from deliveries) returning id`;
  expect(await poll(0)).toMatchObject({ taken: 0 });
  expect(await resumeWhile(pool, webhookId, AUTHOR, Infinity)).toEqual({ ok: 'resumed' });
  expect(await sql`select resumes_until from lanes`).toEqual([{ resumes_until: null }]);
  const taken: string[] = [];
  for (const [version, count] of [
    [1, LOANS],
    [2, LOANS],
    [3, LOANS - 1],
  ]) {
    const now = new Date(nowMs + 5_000);
    const deliveries = await pollLanes(pool, `q${version}/1`, 100, now);
    expect(deliveries.map(({ loanVersion }) => loanVersion)).toEqual(Array(count).fill(version));
    await record(
      pool,
      deliveries.map((delivery) => reportFor(delivery, `q${version}/1`, DELIVERED)),
      () => 10,
      now,
    );
    taken.push(...deliveries.map((delivery) => delivery.id));
  }
  expect(taken).not.toContain(id);
});

test.for<[string, () => Promise<unknown>]>([
  ['its partner', () => setActive(false)],
  ['the policy for failing endpoints', () => failForDays()],
  ['the operator, with its partner', () => letGo()],
])('a deactivation by %s ends the resumption: what stays suspended holds nobody back', async ([, deactivate]) => {
  await deactivate();
  await sql`update partners set active = true`;
  await setActive(true);
  await append(1, 1);
  expect(await poll(0)).toMatchObject({ taken: LOANS });
});

async function failForDays(): Promise<void> {
  await sql`
    insert into failing_runs (webhook_id, partner_id, failures, first_failed_at, last_failed_at, last_outcome)
    select id, partner_id, 1, now(), now(), 'erro_conexao' from webhooks where id = ${webhookId}`;
  await sql`select change_failing(${webhookId}, 'falhando', now(), 'test')`;
  await sql`select change_failing(${webhookId}, 'suspensao', now(), 'test')`;
}

async function letGo(): Promise<void> {
  await pool.transaction((tx) => deactivatePartner(tx, partnerId, { actor: 'operador:ana', reason: 'test' }));
}

test('a resumption reads what is suspended, and not what its webhook has had for years', async () => {
  await commitEvents(sql, partnerId, 2_000);
  await sql`delete from pending`;
  await sql`update deliveries set status = 'entregue', next_attempt_at = null, finished_at = now() where status = 'pendente'`;
  await sql`analyze`;
  const scanned = await rowsScanned(database.url, (one) => resumeWhile(one, webhookId, AUTHOR, Infinity));
  expect(scanned).toBeLessThan(500);
  expect(await sql`select from deliveries where status = 'suspensa'`).toEqual([]);
});
