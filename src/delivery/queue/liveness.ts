/** A poller's sign of life as the database sees it: a session that holds the lock of the poller's name. */
import type { Pool, Tx } from '../../db/pool.ts';

export interface Heartbeat {
  /** True when this session has just taken the lock: the previous holding may have been lost for any time. */
  readonly isNew: boolean;
  /** Identifies the server and its start; null on a standby. */
  readonly server: string | null;
  /** Since that start, on the server's clock. */
  readonly serverAgeMs: number;
  /** How many pollers live, this one among them. */
  readonly living: number;
  /** Keepers without the lock that they have had. */
  readonly orphans: readonly string[];
  /** How many of them have a lower number. */
  readonly rank: number;
}

interface Row extends Heartbeat {
  readonly isHeld: boolean;
  readonly backend: number;
}

/**
 * Reads the lock of the poller `name` on a pool of one connection, and takes it if it is free. Null behind a pooler: it invents the
 * process number it tells clients, and a lock taken through it belongs to whoever gets that session next.
 */
export async function readHeartbeat(pool: Pool, name: string): Promise<Heartbeat | null> {
  return pool.run(async (sql) => {
    const { row, reported } = await ask(sql, name, false);
    if (row.isHeld) return row;
    return row.backend === reported ? (await ask(sql, name, true)).row : null;
  });
}

/** `reported` is the process number that the client was told when it connected. */
async function ask(sql: Tx, name: string, mayTake: boolean): Promise<{ row: Row; reported: number }> {
  const rows = await sql<[Row]>`
    select is_held as "isHeld", is_new as "isNew", backend, server, server_age_ms as "serverAgeMs", cardinality(numbers) as living,
           (select count(*)::int from unnest(numbers) as other (number) where other.number < poller_number(${name})) as rank,
           array(select k.name from keepers k where k.has_lock and poller_number(k.name) <> all (numbers)) as orphans
    from sign_of_life(${name}, ${mayTake}) as sign (is_held, is_new, backend, server, server_age_ms, numbers)`;
  return { row: rows[0], reported: rows.state.pid };
}

/** Ends a session that leads to another server than the pool's other ones; the next is opened where they are. */
export async function endSession(pool: Pool): Promise<void> {
  await pool.run((sql) => sql`select pg_terminate_backend(pg_backend_pid())`).catch(() => undefined);
}
