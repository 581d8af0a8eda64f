/** The database's clock is set back, or put forward, an hour while claims are held. */
import { beforeEach, expect, test } from 'vitest';
import { heartbeat } from '../../../src/delivery/queue/keepers.ts';
import { countHours } from '../../../src/delivery/queue/maintenance/hour-counter.ts';
import { LEASE_S } from '../../../src/delivery/queue/lease.ts';
import { record } from '../../../src/delivery/queue/record.ts';
import { Sweeper } from '../../../src/delivery/queue/maintenance/sweep.ts';
import { DELIVERED, reportFor } from '../../support/delivered.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents, insertAttempts, readAttempts, readDeliveries } from '../../support/outbox.ts';
import { silentLog } from '../../support/silent-log.ts';
import { pollLanes } from '../../support/poll.ts';

/** The clock before it is set back, and the time it is set back to. */
let before: Date;
let back: Date;
let atMs: number;
let sweeper: Sweeper;

const { pool, sql, partnerId, webhookId } = await useOneWebhook();
beforeEach(() => {
  back = new Date(Date.now() + 1_000);
  before = new Date(back.getTime() + 3_600_000);
  atMs = 0;
  sweeper = new Sweeper({
    pool,
    log: silentLog,
    monotonicMs: () => atMs,
    now: () => new Date(back.getTime() + atMs),
  });
});

/** Appends and claims as a poller did before the clock was set back. */
async function claimBefore(events: number) {
  await commitEvents(sql, partnerId, events);
  return pollLanes(pool, 'dead/1', 100, before);
}

async function sweepAt(seconds: number): Promise<void> {
  atMs = seconds * 1_000;
  await sweeper.sweepNowAndThen();
}

const take = (name: string) => pollLanes(pool, name, 100, new Date(back.getTime() + atMs));

test('what a dead poller held is taken over a lease after a sweep has seen it, with the row of what was lost', async () => {
  const [first] = await claimBefore(1);
  expect(await take('alive/1')).toEqual([]);
  await sweepAt(30);
  await sweepAt(30 + LEASE_S - 1);
  expect(await take('alive/2')).toEqual([]);
  await sweepAt(60 + LEASE_S);
  const [second] = await take('alive/3');
  expect([second?.id, second?.number]).toEqual([first?.id, 2]);
  expect(await readAttempts(sql, String(first?.id))).toMatchObject([{ number: 1, outcome: 'desconhecido' }]);
});

test('a full lane goes on, and what was appended after the clock was set back is not held up', async () => {
  expect(await claimBefore(12)).toHaveLength(8);
  expect(await take('alive/1')).toEqual([]);
  await sweepAt(30);
  await sweepAt(60 + LEASE_S);
  expect(await take('alive/2')).toHaveLength(8);
});

test('a living poller that reports within its lease keeps its claim', async () => {
  const [claimed] = await claimBefore(1);
  if (claimed === undefined) throw new Error('nothing was claimed');
  await sweepAt(30);
  await sweepAt(60);
  const report = reportFor(claimed, 'dead/1', DELIVERED);
  const completions = await record(pool, [report], () => 0, new Date(back.getTime() + atMs));
  expect(completions.get(report)?.standing).toBe('current');
  await sweepAt(90 + LEASE_S);
  expect(await readDeliveries(sql, webhookId)).toMatchObject([{ status: 'entregue', attempts: 1 }]);
});

test('a keeper that froze before the clock was set back is seen to be silent', async () => {
  await sql`insert into keepers (name, seen_at) values ('frozen', now() + interval '1 hour'), ('alive', now())`;
  const silent = async () => (await pool.run((tx) => heartbeat(tx, 'alive', 0, false))).silent;
  await sweepAt(30);
  expect(await silent()).toEqual([]);
  await sql`update keepers set seen_at = seen_at - interval '6 seconds'`;
  expect(await silent()).toEqual(['frozen']);
});

test.each([
  ['a success', DELIVERED, 'entregue'],
  ['a failure', { ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 500 } as const, 'pendente'],
])(
  'put forward, it ends what flies, but each POST has its row, and %s that comes after it counts as late',
  async (_, result, status) => {
    await commitEvents(sql, partnerId, 1);
    const [claimed] = await pollLanes(pool, 'alive/1', 1, back);
    if (claimed === undefined) throw new Error('nothing was claimed');
    await sweepAt(3_600);
    expect(await readDeliveries(sql, webhookId)).toMatchObject([{ status: 'pendente', attempts: 1, failures: 0 }]);
    const [again] = await take('alive/2');
    expect([again?.id, again?.number]).toEqual([claimed.id, 2]);
    const report = reportFor(claimed, 'alive/1', result);
    const completions = await record(pool, [report], () => 0, new Date(back.getTime() + atMs));
    expect(completions.get(report)?.standing).toBe('late');
    const rows = (await readAttempts(sql, claimed.id)).filter(({ number }) => number === 1);
    expect(rows.map(({ outcome }) => outcome).toSorted()).toEqual(['desconhecido', result.outcome].toSorted());
    expect(await readDeliveries(sql, webhookId)).toMatchObject([{ status, failures: 0 }]);
  },
);

test('attempts are counted on after the clock was set back', async () => {
  const counted = async () => {
    await countHours(pool, 7_500);
    const [row] = await sql`select sum(attempts)::int as counted from attempt_hours where webhook_id = ${webhookId}`;
    return row?.['counted'] as number | null;
  };
  await commitEvents(sql, partnerId, 1);
  await insertAttempts(sql);
  // Another poller has just counted.
  await sql`update projections set passed_at = clock_timestamp() where name = 'attempt_hours'`;
  expect(await counted()).toBeNull();
  // It passes no transaction that is open, also one of another database.
  const countedAfter = async () => {
    await sql`update projections set passed_at = clock_timestamp() + interval '1 hour' where name = 'attempt_hours'`;
    return counted();
  };
  await expect.poll(countedAfter).toBe(1);
});
