/** The checks that mutants of the engine are put before. Each throws what it found. */
import { RETRY_DELAYS_S } from '../../src/contract/schedule.ts';
import type { Pool, Sql } from '../../src/db/pool.ts';
import { LEASE_S, LOST_IN_ROW_BOOKS_FAILURE } from '../../src/delivery/queue/lease.ts';
import { clearClaims } from '../../src/delivery/queue/claim.ts';
import { rescueOverdue } from '../../src/delivery/queue/rescuer.ts';
import { putOff, withdraw } from '../../src/delivery/queue/release.ts';
import { Poller, type PollerDeps } from '../../src/delivery/poller/poller.ts';
import { commitEvents, insertSubscriber, openTestSecret } from '../support/outbox.ts';
import { silentLog } from '../support/silent-log.ts';
import { pollLanes } from '../support/poll.ts';
import { Differential } from './differential.ts';
import { DELIVERED } from '../support/delivered.ts';
import { endTheDead, judgeFromElsewhere, leaveTheLiving, waitAfterRestart, withLives } from './dead-pollers.ts';
import { askForConsent } from './consent-checks.ts';
import { probeFailing, recoverInSteps } from './failing-checks.ts';
import { fallSilent, shareOut } from './fairness.ts';
import {
  keepLoanOrder,
  pollInLoanOrder,
  readManyLoans,
  resumeInBatches,
  resumeNoMore,
  wakeEarlier,
} from './loan-order.ts';
import { commitLate } from './late-commits.ts';

const STEPS = 12_000;
/** So many transactions are a poller's first turn, in which it reads its lanes and finds nothing. */
const KEPT = 2;

export type Check = (pool: Pool, sql: Sql, seed: number) => Promise<void>;
export type CheckName =
  | 'differential'
  | 'differential of few lanes'
  | 'only losses'
  | 'booked failure'
  | 'lost claim found twice'
  | 'lost claim beside a record'
  | 'stale release'
  | 'deactivated'
  | 'deactivated partner'
  | 'partner beside a claim'
  | 'late commits'
  | 'waiting secret'
  | 'outage'
  | 'short lease'
  | 'standstill before a send'
  | 'unknown commit'
  | 'late commit of a claim'
  | 'share of a partner'
  | 'silent webhook'
  | 'consent'
  | 'failing webhook'
  | 'failing in steps'
  | 'dead poller'
  | 'living poller'
  | 'restarted server'
  | 'another server'
  | 'send without a lock'
  | 'order of loans'
  | 'loans of four pollers'
  | 'many loans at once'
  | 'resent beside a later one'
  | 'resumed in batches'
  | 'resumed no more';

async function fill(sql: Sql, events: number): Promise<void> {
  const append = await subscribe(sql);
  for (let event = 0; event < events; event += 1) await append();
}

/** One delivery claimed as `lost/1`, and a time at which that lease is over. */
async function loseClaim(pool: Pool, sql: Sql): Promise<{ ids: string[]; later: Date }> {
  await fill(sql, 1);
  const now = new Date(Date.now() + 1_000);
  const taken = await pollLanes(pool, 'lost/1', 10, now);
  return { ids: taken.map(({ id }) => id), later: new Date(now.getTime() + (LEASE_S + 1) * 1_000) };
}

/** Makes a partner with one webhook; what it returns appends one event. */
async function subscribe(sql: Sql): Promise<(tx?: Sql) => Promise<unknown>> {
  const { partnerId } = await insertSubscriber(sql);
  return (tx = sql) => commitEvents(tx, partnerId, 1);
}

function makePoller(pool: Pool, deps: Partial<PollerDeps>): Poller {
  return new Poller({
    pool,
    sender: { send: async () => DELIVERED },
    openSecret: openTestSecret,
    log: silentLog,
    name: 'mutant',
    capacity: 64,
    monotonicMs: () => performance.now(),
    now: () => new Date(Date.now() + 1_000),
    ...deps,
  });
}

/** A pool whose transaction number `failing` commits, but whose answer never comes. */
function losingAnswer(pool: Pool, failing: number): Pool {
  let transactions = 0;
  const transaction: Pool['transaction'] = async (work) => {
    const result = await pool.transaction(work);
    if ((transactions += 1) === failing) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    return result;
  };
  return { run: pool.run.bind(pool), transaction } as Pool;
}

/** Of a claim that nothing was sent of, others would log attempts that nobody made. */
async function expectOneClaim(sql: Sql): Promise<void> {
  const twice = await sql`select from claims c, unnest(c.ids) as id group by id having count(*) > 1`;
  expectNone(twice, 'deliveries are named by two claims');
}

function expectNone(rows: readonly unknown[], what: string): void {
  if (rows.length > 0) throw new Error(`${rows.length} ${what}`);
}

export const CHECKS: Readonly<Record<CheckName, Check>> = {
  differential: (pool, sql, seed) => new Differential(pool, sql, seed).run(STEPS),
  'differential of few lanes': (pool, sql, seed) => new Differential(pool, sql, seed).run(STEPS / 4, 1),

  consent: askForConsent,
  'failing webhook': probeFailing,
  'failing in steps': recoverInSteps,
  'order of loans': keepLoanOrder,
  'loans of four pollers': pollInLoanOrder,
  'many loans at once': readManyLoans,
  'resent beside a later one': wakeEarlier,
  'resumed in batches': resumeInBatches,
  'resumed no more': resumeNoMore,

  'only losses': (pool, sql, seed) => new Differential(pool, sql, seed).loseAll(),

  /** A lane whose only delivery was lost so often that a failure was booked on it wakes for the next slot. */
  async 'booked failure'(pool, sql) {
    await fill(sql, 1);
    const startMs = Date.now() + 10_000;
    const claimAt = (afterS: number) => pollLanes(pool, `p/${afterS}`, 10, new Date(startMs + afterS * 1_000));
    const step = LEASE_S + 1;
    for (let lost = 0; lost <= LOST_IN_ROW_BOOKS_FAILURE; lost += 1) await claimAt(lost * step);
    const deliveries = await claimAt(LOST_IN_ROW_BOOKS_FAILURE * step + RETRY_DELAYS_S[0] + 5);
    if (deliveries.length === 0) throw new Error('not tried again in its next slot: the lane sleeps');
  },

  /** Two pollers find the same lost claim, which the first leaves alone until another one was made meanwhile. */
  async 'lost claim found twice'(pool, sql) {
    const { later } = await loseClaim(pool, sql);
    const taken = await pollLanes(pool, 'other/1', 10, later);
    if (taken.length !== 1) throw new Error('what was lost is not due again');
    const ended = await pool.transaction((tx) => rescueOverdue(tx, later));
    if (ended > 0) throw new Error('a claim was ended within its lease');
  },

  /** Who lost a claim gives it back unsent, when another poller has one on the same delivery. */
  async 'stale release'(pool, sql) {
    const { ids, later } = await loseClaim(pool, sql);
    await pollLanes(pool, 'other/1', 10, later);
    await pool.transaction(async (tx) => {
      await withdraw(tx, 'lost', 1, ids);
      for (const id of ids) await putOff(tx, { id, number: 1 }, 60, later);
      await clearClaims(tx, 'lost', 1, 2);
    });
    const flying =
      await sql`select from flights() join deliveries d on d.id = delivery_id where d.next_attempt_at < now()`;
    if (flying.length !== 1) throw new Error('a claim of another poller was ended by a release');
  },

  /** An append that was open while its webhook was deactivated commits a delivery behind that. */
  async deactivated(pool, sql) {
    await fill(sql, 1);
    await sql`update webhooks set active = false`;
    const taken = await pollLanes(pool, 'p/1', 10, new Date(Date.now() + 1_000));
    expectNone(taken, 'deliveries sent to a deactivated webhook');
    expectNone(await sql`select from deliveries where status <> 'suspensa'`, 'deliveries not suspended');
  },

  /** What is pending when a partner is deactivated, and what an append adds that was open meanwhile. */
  async 'deactivated partner'(pool, sql) {
    const append = await subscribe(sql);
    await append();
    await sql.begin(async (open) => {
      await append(open as unknown as Sql);
      await sql`update partners set active = false`;
      expectNone(await sql`select from deliveries where status <> 'suspensa'`, 'not suspended by the deactivation');
    });
    const taken = await pollLanes(pool, 'p/1', 10, new Date(Date.now() + 1_000));
    expectNone(taken, 'deliveries sent to a deactivated partner');
    expectNone(await sql`select from deliveries where status <> 'suspensa'`, 'not suspended by the claim');
  },

  /** A partner is deactivated while a claim on its lane is yet to commit. */
  async 'partner beside a claim'(pool, sql) {
    const append = await subscribe(sql);
    const claimed = Promise.withResolvers<void>();
    const isLetGo = Promise.withResolvers<void>();
    let isHolding = false;
    const transaction: Pool['transaction'] = (work) =>
      pool.transaction(async (tx) => {
        const result = await work(tx);
        if (!isHolding) return result;
        await tx`select`;
        claimed.resolve();
        await isLetGo.promise;
        return result;
      });
    const poller = makePoller({ run: pool.run.bind(pool), transaction } as Pool, {});
    // It keeps the lane already.
    await poller.tick();
    await append();
    isHolding = true;
    const claiming = poller.tick();
    await claimed.promise;
    const refusals = [];
    for (const table of ['partners', 'webhooks']) {
      const refused = sql
        .begin(async (tx) => {
          await tx`set local lock_timeout = '200ms'`;
          await tx`update ${tx(table)} set active = false`;
        })
        .then(
          () => null,
          (error: { code: string }) => error.code,
        );
      refusals.push(await refused);
    }
    isHolding = false;
    isLetGo.resolve();
    await claiming;
    await poller.settled();
    if (refusals.some((code) => code !== '55P03')) throw new Error('a claim may commit after a deactivation');
  },

  /** A claim that a record is ending is left to it. */
  async 'lost claim beside a record'(pool, sql) {
    const { later } = await loseClaim(pool, sql);
    await sql.begin(async (recording) => {
      await recording`
        update deliveries
        set status = 'entregue', next_attempt_at = null, finished_at = now()`;
      const ended = await sql.begin(async (tx) => {
        await tx`set local lock_timeout = '500ms'`;
        return rescueOverdue(tx, later);
      });
      if (ended > 0) throw new Error('a claim was ended that a record is ending');
    });
    expectNone(await sql`select from attempts`, 'attempts were logged as lost that are being recorded');
  },

  'late commits': commitLate,

  'share of a partner': shareOut,

  'silent webhook': fallSilent,

  'dead poller': async (pool, sql) => endTheDead(pool, sql, await subscribe(sql)),

  'living poller': async (pool, sql) => leaveTheLiving(pool, sql, await subscribe(sql)),

  'restarted server': async (pool, sql) => waitAfterRestart(pool, sql, await subscribe(sql)),

  'another server': async (pool, sql) => judgeFromElsewhere(pool, sql, await subscribe(sql)),

  /** A poller whose lock is lost between its claim and the send: 1.05 s later others may have the delivery. */
  'send without a lock': (pool, sql) =>
    withLives(pool, sql, async (lives) => {
      await fill(sql, 1);
      const sign = lives.start('mutant');
      let posts = 0;
      let claims = 0;
      const transaction: Pool['transaction'] = async (work) => {
        const result = await pool.transaction(work);
        if ((claims += 1) > 1) return result;
        await lives.cut('mutant');
        lives.atMs += 1_050;
        return result;
      };
      const poller = makePoller({ run: pool.run.bind(pool), transaction } as Pool, {
        sign,
        monotonicMs: () => lives.atMs,
        sender: { send: async () => ((posts += 1), DELIVERED) },
      });
      await poller.tick();
      await poller.settled();
      if (posts > 0) throw new Error('sent without the lock that the claim was made under');
      // A turn looks for what was given back among the retries, the next one where it was.
      for (const _ of ['retries', 'at once']) {
        await poller.tick();
        await poller.settled();
      }
      if (posts !== 1) throw new Error(`${posts} POSTs when the lock is there again`);
    }),

  /** A new secret signs from its time on, beside the one before; until then that one signs alone. */
  async 'waiting secret'(pool, sql) {
    await fill(sql, 2);
    const now = new Date(Date.now() + 1_000);
    const claimAt = async (signsInS: number) => {
      await sql`
        update webhooks
        set encrypted_secret = 'new', previous_encrypted_secret = 'old', previous_until = ${now}::timestamptz + interval '1 day',
            signs_from = ${now}::timestamptz + ${signsInS} * interval '1 second'`;
      const [taken] = await pollLanes(pool, `p/${signsInS}`, 1, now);
      return [taken?.encryptedSecret, taken?.previousEncryptedSecret].map(String).join();
    };
    const signed = [await claimAt(1), await claimAt(0)].join(' then ');
    if (signed !== 'old,null then new,old') throw new Error(`signed by ${signed}`);
  },

  /** A record whose commit's answer is lost is repeated, and changes nothing. */
  async outage(pool, sql) {
    const append = await subscribe(sql);
    const poller = makePoller(losingAnswer(pool, KEPT + 2), {});
    await poller.tick();
    await append();
    await poller.tick();
    await poller.settled();
    const held = await pool.run((run) => run`select from deliveries where status <> 'entregue'`);
    expectNone(held, 'deliveries not entregue');
    const [{ n }] = await sql<[{ n: number }]>`select count(*)::int as n from attempts`;
    if (n !== 1) throw new Error(`${n} attempt rows for one POST`);
    await poller.drain();
    const failing = makePoller({ run: pool.run.bind(pool), transaction: failingAt(pool, KEPT + 2) } as Pool, {});
    await failing.tick();
    await append();
    await failing.tick();
    await failing.settled();
    expectNone(await sql`select from flights()`, 'reports were dropped in an outage');
    const lost = await sql`select from attempts where outcome = 'desconhecido'`;
    expectNone(lost, 'reports were dropped in an outage');
  },

  /** A poller that got its claim too late sends nothing of it. */
  async 'short lease'(pool, sql) {
    const append = await subscribe(sql);
    let atMs = 0;
    let posts = 0;
    const transaction: Pool['transaction'] = async (...work) => {
      const result = await pool.transaction(...work);
      atMs += 20_000;
      return result;
    };
    const poller = makePoller({ run: pool.run.bind(pool), transaction } as Pool, {
      monotonicMs: () => atMs,
      sender: { send: async () => ((posts += 1), DELIVERED) },
    });
    await poller.tick();
    await append();
    await poller.tick();
    await poller.settled();
    if (posts > 0) throw new Error('sent with less of the lease left than the deadline takes');
  },

  /** What a poller sends counts from when it looked at the lease, however long it stood still after that. */
  async 'standstill before a send'(pool, sql) {
    await fill(sql, 1);
    let atMs = 0;
    const starts: number[] = [];
    const poller = makePoller(pool, {
      monotonicMs: () => atMs,
      openSecret(webhookId, sealed) {
        atMs += LEASE_S * 1_000;
        return openTestSecret(webhookId, sealed);
      },
      sender: { send: async (_request, startedAtMs = atMs) => (starts.push(startedAtMs), DELIVERED) },
    });
    await poller.tick();
    await poller.settled();
    if (starts.join() !== '0') throw new Error(`its time counts from after a standstill: ${starts.join()} ms, not 0`);
  },

  /** A claim that commits after it was first looked for is deleted as well. */
  async 'late commit of a claim'(pool, sql) {
    const append = await subscribe(sql);
    const late = committingLate(pool, KEPT + 1);
    let atMs = 0;
    const poller = makePoller(late.pool, { monotonicMs: () => (atMs += 100) });
    await poller.tick();
    for (let event = 0; event < 3; event += 1) await append();
    await poller.tick().catch(() => undefined);
    await poller.tick();
    await late.commit();
    for (let poll = 0; poll < 20; poll += 1) await poller.tick();
    await poller.settled();
    expectNone(await sql`select from deliveries where status <> 'entregue'`, 'deliveries left behind');
    await expectOneClaim(sql);
  },

  /** A claim whose commit is unknown is given back at the next turn, not after its lease. */
  async 'unknown commit'(pool, sql) {
    const append = await subscribe(sql);
    const poller = makePoller(losingAnswer(pool, KEPT + 1), {});
    await poller.tick();
    for (let event = 0; event < 3; event += 1) await append();
    await poller.tick().catch(() => undefined);
    await poller.tick();
    await poller.settled();
    expectNone(await sql`select from deliveries where status <> 'entregue'`, 'deliveries left behind');
    await expectOneClaim(sql);
  },
};

/** A pool whose transaction number `nth` is given up by the client, and commits when `commit` is called. */
function committingLate(pool: Pool, nth: number): { pool: Pool; commit: () => Promise<unknown> } {
  const isDone = Promise.withResolvers<void>();
  const isLetGo = Promise.withResolvers<void>();
  let late: Promise<unknown> | null = null;
  let transactions = 0;
  const transaction: Pool['transaction'] = async (work) => {
    if ((transactions += 1) !== nth) return pool.transaction(work);
    late = pool.transaction(async (tx) => {
      await work(tx);
      await tx`select`;
      isDone.resolve();
      await isLetGo.promise;
    });
    await isDone.promise;
    throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  };
  const commit = async () => {
    isLetGo.resolve();
    await late;
  };
  return { pool: { run: pool.run.bind(pool), transaction } as Pool, commit };
}

function failingAt(pool: Pool, failing: number): Pool['transaction'] {
  let transactions = 0;
  return async (work) => {
    if ((transactions += 1) === failing) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    return pool.transaction(work);
  };
}
