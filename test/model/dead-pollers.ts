/** Pollers that die, live, or come back with the server, on one monotonic clock that is moved by hand. */
import { Pool, type Sql } from '../../src/db/pool.ts';
import { enter } from '../../src/delivery/queue/keepers.ts';
import { Liveness } from '../../src/delivery/poller/liveness.ts';
import { DeadPollers } from '../../src/delivery/queue/maintenance/dead-pollers.ts';
import { silentLog } from '../support/silent-log.ts';
import { pollLanes } from '../support/poll.ts';

/** Long after the server was met, and after all that was looked at then. */
const LATER_S = 60;
const CLAIMED = 3;

type Append = () => Promise<unknown>;

/** The pollers of one check; each has a session of its own. */
class Lives {
  atMs = 0;
  readonly #sql: Sql;
  readonly #pool: Pool;
  readonly #sessions: Pool[] = [];

  constructor(pool: Pool, sql: Sql) {
    this.#pool = pool;
    this.#sql = sql;
  }

  start(name: string): Liveness {
    const { host, port, database, user, pass } = this.#sql.options;
    const url = `postgres://${user}:${String(pass)}@${host[0]}:${port[0]}/${database}`;
    const session = new Pool({ url, name, max: 1, deadlineMs: 10_000 });
    this.#sessions.push(session);
    const monotonicMs = () => this.atMs;
    const deps = { session, isPooled: false, pool: this.#pool, log: silentLog, name, monotonicMs, now: () => null };
    return new Liveness(deps);
  }

  /** Ends the sessions of these pollers as a crash does, of theirs or of the server. */
  async cut(...names: readonly string[]): Promise<void> {
    await this.#sql`
      select pg_terminate_backend(backend, 10000)
      from living_pollers(), unnest(${names as string[]}::text[]) as name
      where number = poller_number(name)`;
  }

  /** Each of them gives its sign of life at each of these times. */
  async turnAt(seconds: readonly number[], ...signs: readonly Liveness[]): Promise<void> {
    for (const second of seconds) {
      this.atMs = second * 1_000;
      for (const sign of signs) await again(() => sign.poll(true));
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.close(1)));
  }
}

/** A question on a session that was ended a moment ago may fail; the next one opens another. */
async function again(work: () => Promise<unknown>): Promise<void> {
  await work().catch(work);
}

export async function withLives(pool: Pool, sql: Sql, work: (lives: Lives) => Promise<void>): Promise<void> {
  const lives = new Lives(pool, sql);
  try {
    await work(lives);
  } finally {
    await lives.close();
  }
}

async function claimAs(pool: Pool, append: Append, ...claims: readonly string[]): Promise<void> {
  for (const claim of claims) {
    for (let event = 0; event < CLAIMED; event += 1) await append();
    const taken = await pollLanes(pool, claim, CLAIMED, new Date(Date.now() + 1_000));
    if (taken.length !== CLAIMED) throw new Error(`${taken.length} claimed as ${claim}`);
  }
}

async function countEnded(sql: Sql): Promise<number> {
  const [{ n }] = await sql<[{ n: number }]>`select count(*)::int as n from attempts where outcome = 'desconhecido'`;
  return n;
}

const after = (...seconds: readonly number[]) => seconds.map((second) => LATER_S + second);

/** One of two pollers dies. */
export async function endTheDead(pool: Pool, sql: Sql, append: Append): Promise<void> {
  await withLives(pool, sql, async (lives) => {
    const [own, lost] = [lives.start('own'), lives.start('lost')];
    await lives.turnAt([0, ...after(0)], own, lost);
    await claimAs(pool, append, 'lost/1.1');
    await lives.cut('lost');
    await lives.turnAt(after(0.3, 0.6, 1.2), own);
    if ((await countEnded(sql)) > 0) throw new Error('claims were ended within the grace');
    await lives.turnAt(after(1.31), own);
    if ((await countEnded(sql)) !== CLAIMED) throw new Error('the claims of a dead poller are not ended');
    const spent = await sql`select from deliveries where failures > 0 or id in (select delivery_id from flights())`;
    if (spent.length > 0) throw new Error('what a dead poller held is not due again as it was');
    const taken = await pollLanes(pool, 'own/1.1', CLAIMED, new Date(Date.now() + 1_000));
    if (taken.length !== CLAIMED) throw new Error('nobody takes over what a dead poller held: the lane sleeps');
  });
}

/** One dies, which has the other look at claims; those that stand are of a living one, and of one without a lock. */
export async function leaveTheLiving(pool: Pool, sql: Sql, append: Append): Promise<void> {
  await withLives(pool, sql, async (lives) => {
    const [own, other, lost] = [lives.start('own'), lives.start('other'), lives.start('lost')];
    await lives.turnAt([0, ...after(0)], own, other, lost);
    await claimAs(pool, append, 'other/1.1', 'alone/1');
    await pool.run((tx) => enter(tx, 'alone', false));
    await lives.cut('lost');
    await lives.turnAt(after(1, 3, 5, 7, 9), own);
    if ((await countEnded(sql)) > 0) throw new Error('claims of living pollers were ended');
  });
}

/** The server starts again: every session is gone. One poller is back at once, the other after 14 s; then that one dies. */
export async function waitAfterRestart(pool: Pool, sql: Sql, append: Append): Promise<void> {
  await withLives(pool, sql, async (lives) => {
    const [own, late] = [lives.start('own'), lives.start('late')];
    await lives.turnAt([0, ...after(0)], own, late);
    await claimAs(pool, append, 'late/1.1');
    await lives.cut('late');
    await lives.turnAt(after(0.5), own);
    await lives.cut('own');
    await lives.turnAt(after(1, 2, 3, 8, 14), own);
    await lives.turnAt(after(14), late);
    await lives.turnAt(after(16, 18), own, late);
    if ((await countEnded(sql)) > 0) throw new Error('claims of a poller that came back to a new server were ended');
    await lives.cut('late');
    await lives.turnAt(after(20, 22), own);
    if ((await countEnded(sql)) !== CLAIMED) throw new Error('the claims of a dead poller are not ended');
  });
}

/** What a poller was told on one server says nothing of another, where it has no lock. */
export async function judgeFromElsewhere(pool: Pool, sql: Sql, append: Append): Promise<void> {
  await claimAs(pool, append, 'lost/1.1');
  let atMs = 0;
  const dead = new DeadPollers({ pool, log: silentLog, name: 'own', monotonicMs: () => atMs, now: () => null });
  const heartbeat = {
    isNew: false,
    server: 'elsewhere',
    serverAgeMs: 3_600_000,
    living: 1,
    rank: 0,
    orphans: ['lost'],
  };
  for (const seconds of [0, 2, 4]) {
    atMs = seconds * 1_000;
    await dead.look(heartbeat, 1);
  }
  if ((await countEnded(sql)) > 0) throw new Error('claims were ended by one that has no lock there');
}
