/** Who holds what a migration waits for; asked while it waits, because PostgreSQL forgets it afterwards. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../pool.ts';
import type { Tx } from '../sql.ts';

const CHECK_EVERY_MS = 250;

interface Holder {
  readonly pid: number;
  readonly locks: string | null;
  readonly name: string | null;
  readonly state: string | null;
  readonly seconds: number | null;
  readonly me: string;
}

/** Runs `work` on a session of the pool; `holder` returns what last blocked it. The checks use the pool's second session. */
export function watchHolders(pool: Pool) {
  let holder = 'who held it has ended its transaction meanwhile';
  async function run<T>(work: (sql: Tx) => Promise<T>): Promise<T> {
    const ended = new AbortController();
    return pool.run(async (sql) => {
      const [{ pid }] = await sql<[{ pid: number }]>`select pg_backend_pid() as pid`;
      const looking = look(pid, ended.signal);
      try {
        return await work(sql);
      } finally {
        ended.abort();
        await looking;
      }
    });
  }
  async function look(pid: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // A failed check is ignored; the migration reports its own failures.
      holder = (await pool.run((sql) => readHolder(sql, pid)).catch(() => null)) ?? holder;
      await sleep(CHECK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  return { run, holder: () => holder };
}

/**
 * The session that `waiting` waits for, of several the one with the oldest transaction; null when none. Without pg_monitor PostgreSQL shows
 * only the locks of other logins' sessions, and the text says so.
 */
export async function readHolder(sql: Tx, waiting: number): Promise<string | null> {
  const [holder] = await sql<Holder[]>`
    select b.pid, a.application_name as name, a.state, extract(epoch from clock_timestamp() - a.xact_start)::int as seconds,
           current_user as me, string_agg(distinct l.mode || ' on ' || l.relation::regclass, ', ') as locks
    from unnest(pg_blocking_pids(${waiting})) b (pid)
    left join pg_stat_activity a on a.pid = b.pid
    left join pg_locks l on l.pid = b.pid and l.granted
      and l.relation in (select w.relation from pg_locks w where w.pid = ${waiting} and not w.granted)
    group by b.pid, a.application_name, a.state, a.xact_start
    order by count(l.pid) = 0, a.xact_start
    limit 1`;
  if (holder === undefined) return null;
  const { pid, locks, name, state, seconds, me } = holder;
  if (pid === 0) return 'a prepared transaction (pg_prepared_xacts) holds the lock';
  const session =
    state === null
      ? `pid ${pid}, of another login (\`grant pg_monitor to "${me}"\` lets this one see its name and state)`
      : `pid ${pid}, ${name || 'unnamed'}, ${state}, open for ${seconds} s`;
  return `${session}, holds ${locks ?? 'the lock'}`;
}
