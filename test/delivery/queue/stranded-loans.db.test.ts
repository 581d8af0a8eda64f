import { expect, test } from 'vitest';
import { setInOrder } from '../../../src/delivery/queue/orders/loan-order.ts';
import { record } from '../../../src/delivery/queue/record.ts';
import {
  type LoanPlace,
  type LoanSweep,
  wakeStrandedLoans,
} from '../../../src/delivery/queue/upkeep/stranded-loans.ts';
import { Sweeper } from '../../../src/delivery/queue/upkeep/sweep.ts';
import { createTestDatabase } from '../../support/database.ts';
import { DELIVERED, reportFor } from '../../support/delivered.ts';
import { insertPartner, insertSubscriber, insertWebhook } from '../../support/outbox.ts';
import { FAILED_DISBURSEMENT, failedDisbursementOf, LOAN } from '../../support/payloads.ts';
import { silentLog } from '../../support/silent-log.ts';
import { takeTurn } from '../../support/turn.ts';

const database = await createTestDatabase();
const { pool, sql } = database;

test('what waits is left alone while one of its loan will wake it, and woken where none will', async () => {
  const { partnerId, id } = await insertSubscriber(sql);
  await pool.transaction((tx) => setInOrder(tx, id, true));
  const loan = crypto.randomUUID();
  for (let version = 0; version < 3; version += 1) {
    await sql`
      select append_event(${loan}, ${version}, 'desembolso.falhou', ${partnerId}, ${failedDisbursementOf(loan)}::text::json, 'test')`;
  }
  const now = new Date(Date.now() + 1_000);
  const [first] = await takeTurn(pool, 'p/1', 10, now);
  const wake = async () => (await pool.transaction((tx) => wakeStrandedLoans(tx, null))).stranded;
  expect(await wake()).toBe(0);
  // As if somebody had taken the mark away by hand.
  await sql`update deliveries set awaited = null`;
  expect(await wake()).toBe(2);
  expect(await takeTurn(pool, 'p/2', 10, now)).toEqual([]);
  if (first === undefined) throw new Error('nothing was taken');
  await record(pool, [reportFor(first, 'p/1', DELIVERED)], () => 10, now);
  expect((await takeTurn(pool, 'p/3', 10, now)).map(({ loanVersion }) => loanVersion)).toEqual([2]);
  expect(await wake()).toBe(0);
});

test('one that is stranded behind 1,002 that wait rightly is found by walking on, and nothing else is', async () => {
  const { partnerId, id } = await insertSubscriber(sql);
  await appendLoans(partnerId, 334, 4);
  await sql`update deliveries set awaited = true where webhook_id = ${id}`;
  await appendLoans(partnerId, 1, 2);
  await sql`
    update deliveries d set next_attempt_at = 'infinity'
    from events e where e.id = d.event_id and d.webhook_id = ${id} and e.version > 1`;
  const woken: number[] = [];
  for (let place: LoanPlace | null = null; ;) {
    const sweep: LoanSweep = await pool.transaction((tx) => wakeStrandedLoans(tx, place, 200));
    woken.push(sweep.stranded);
    place = sweep.place;
    if (place === null) break;
  }
  expect(woken.slice(0, 4)).toEqual([0, 0, 0, 0]);
  expect(woken.reduce((sum, count) => sum + count)).toBe(1);
  const due = await sql`
    select e.version from deliveries d join events e on e.id = d.event_id
    where d.webhook_id = ${id} and e.version > 1 and d.next_attempt_at <> 'infinity'`;
  expect(due).toEqual([{ version: 2 }]);

  await sql`
    update deliveries d set next_attempt_at = 'infinity'
    from events e where e.id = d.event_id and d.webhook_id = ${id} and e.version > 1`;
  let nowMs = 0;
  let counted = 0;
  const metrics = { countStranded: (count: number) => (counted += count) };
  const sweeper = new Sweeper({ pool, log: silentLog, monotonicMs: () => nowMs, now: () => null, metrics });
  const turn = async () => {
    nowMs += 30_000;
    await sweeper.sweepNowAndThen();
    return counted;
  };
  expect([await turn(), await turn()]).toEqual([0, 1]);
});

test('a walk that fails each time keeps neither the alarm of stranded lanes back, nor the suspension of what is left', async () => {
  const { id, partnerId: one } = await insertSubscriber(sql);
  const { id: inactive, partnerId: other } = await insertSubscriber(sql);
  for (const partnerId of [one, other]) await appendLoans(partnerId, 1, 1);
  await sql`update webhooks set active = false where id = ${inactive}`;
  await sql`update lanes set next_due_at = null, saturated = false where webhook_id in (${id}, ${inactive})`;
  await sql`delete from arrivals`;
  let nowMs = 0;
  let counted = 0;
  const transaction: typeof pool.transaction = async (work) => {
    if (work.toString().includes('wakeStrandedLoans')) throw new Error('broken');
    return pool.transaction(work);
  };
  const sweeper = new Sweeper({
    pool: { run: pool.run.bind(pool), transaction } as typeof pool,
    log: silentLog,
    monotonicMs: () => nowMs,
    now: () => new Date(Date.now() + 60_000),
    metrics: { countStranded: (count: number) => (counted += count) },
  });
  nowMs = 30_000;
  await expect(sweeper.sweepNowAndThen()).rejects.toThrow('broken');
  expect(counted).toBeGreaterThan(0);
  expect(await sql`select distinct status from deliveries where webhook_id = ${inactive}`).toEqual([
    { status: 'suspensa' },
  ]);
});

test('the walk comes by every webhook', async () => {
  const partnerId = await insertPartner(sql);
  for (let webhook = 0; webhook < 5; webhook += 1) await insertWebhook(sql, partnerId, 'https://partner.example/');
  await appendLoans(partnerId, 1, 2);
  await sql`
    update deliveries d set next_attempt_at = 'infinity'
    from events e where e.id = d.event_id and d.partner_id = ${partnerId} and e.version > 1`;
  let woken = 0;
  for (let place: LoanPlace | null = null; ;) {
    const sweep: LoanSweep = await pool.transaction((tx) => wakeStrandedLoans(tx, place, 2));
    woken += sweep.stranded;
    place = sweep.place;
    if (place === null) break;
  }
  expect(woken).toBe(5);
});

/** Appends `events` events to each of `loans` new loans. */
async function appendLoans(partnerId: string, loans: number, events: number): Promise<void> {
  await database.sql`
    select append_event(stream, version, 'desembolso.falhou', ${partnerId},
             replace(${FAILED_DISBURSEMENT}, ${LOAN}, stream::text)::json, 'test')
    from (select gen_random_uuid() as stream from generate_series(1, ${loans}::int)) loans, generate_series(0, ${events}::int - 1) version
    order by stream, version`;
}
