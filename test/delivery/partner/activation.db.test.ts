/** Loans in order while their suspended deliveries are resumed, when many wait behind those, and when nobody resumes them. */
import { beforeEach, expect, test } from 'vitest';
import {
  leaveToResume,
  leaveToSuspend,
  RESUMED_AT_ONCE,
  resumeWhile,
} from '../../../src/delivery/partner/activation.ts';
import { armLanes } from '../../support/arm-lanes.ts';
import { claimDue } from '../../support/claim-due.ts';
import { setInOrder } from '../../../src/delivery/queue/orders/loan-order.ts';
import { deactivatePartner } from '../../../src/steering/off-boarding.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { failedDisbursementOf } from '../../support/payloads.ts';
import { takeTurn } from '../../support/turn.ts';

const AUTHOR = { actor: 'test', requestId: null };
const LOANS = 5;

let nowMs: number;
let streams: string[];

const { pool, sql, partnerId, webhookId } = await useOneWebhook();
beforeEach(async () => {
  streams = Array.from({ length: LOANS }, () => crypto.randomUUID());
  await pool.transaction((tx) => setInOrder(tx, webhookId, true));
  await append(0, 1);
  await setActive(false);
  await takeTurn(pool, 'p/0', 100, new Date(nowMs));
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
async function turn(atS: number): Promise<{ taken: number; written: number }> {
  const now = new Date(nowMs + atS * 1_000);
  await pool.run((tx) => armLanes(tx, now));
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

test('what waits for suspended deliveries is written once in 30 s, however often its lane is claimed', async () => {
  await append(1, 1);
  expect(await turn(0)).toEqual({ taken: 0, written: LOANS });
  for (const atS of [1, 2, 5, 10, 20, 29]) {
    await sql`insert into arrivals (webhook_id, partner_id, kind) values (${webhookId}, ${partnerId}, 'look')`;
    expect(await turn(atS)).toEqual({ taken: 0, written: 0 });
  }
  expect(await turn(30)).toEqual({ taken: 0, written: LOANS });
});

test('a resumption that died holds nobody back for longer than five minutes', async () => {
  await append(1, 1);
  for (let atS = 0; atS < 299; atS += 30) expect(await turn(atS)).toEqual({ taken: 0, written: LOANS });
  expect(await turn(300)).toMatchObject({ taken: LOANS });
});

test('the end of a resumption makes due all that was put off, in batches, and nothing that is tried again later', async () => {
  const each = RESUMED_AT_ONCE / LOANS + 1;
  await append(1, each);
  // As if it had failed: its attempt has a time of its own.
  await sql`
    update deliveries set attempts = 1, failures = 1, next_attempt_at = now() + interval '1 minute'
    where id = (select max(id::text)::uuid from deliveries)`;
  await sql`
    update deliveries set next_attempt_at = now() + interval '20 seconds'
    where webhook_id = ${webhookId} and status = 'pendente' and attempts = 0`;
  await sql`delete from arrivals`;
  expect(await resumeWhile(pool, webhookId, AUTHOR, Infinity)).toEqual({ ok: 'resumed' });
  const later = await sql`select attempts from deliveries where next_attempt_at > now() + interval '1 second'`;
  expect(later).toEqual([{ attempts: 1 }]);
  expect(await sql`select kind from arrivals`).toContainEqual({ kind: 'look' });
  expect(await sql`select resumes_until from lanes`).toEqual([{ resumes_until: null }]);
  const sizes = await sql<{ count: number }[]>`
    select count(*)::int as count from deliveries where attempts = 0 group by xmin::text order by 1`;
  expect(sizes.map(({ count }) => count)).toEqual([LOANS - 1, RESUMED_AT_ONCE + LOANS]);
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
  expect(await turn(0)).toMatchObject({ taken: LOANS });
});

async function failForDays(): Promise<void> {
  await sql`select change_failing(${webhookId}, 'falhando', now(), 'test')`;
  await sql`select change_failing(${webhookId}, 'suspensao', now(), 'test')`;
}

async function letGo(): Promise<void> {
  await pool.transaction((tx) => deactivatePartner(tx, partnerId, { actor: 'operador:ana', reason: 'test' }));
}
