/** A poller's sign of life as the database sees it: a session that holds the lock of the poller's name. */
import type { Pool, Tx } from '../../db/pool.ts';

export interface Pulse {
  /** True when the session that was asked has just taken the lock: the one before may have been lost for any time. */
  readonly isNew: boolean;
  /** Which start of which server this is; null on a standby. */
  readonly server: string | null;
  /** Since that start, by the server's clock. */
  readonly serverAgeMs: number;
  /** The numbers of the pollers that live: `poller_number` of their names. */
  readonly living: readonly number[];
  /** How many of these have a lower number than its own. */
  readonly rank: number;
}

interface Row extends Pulse {
  readonly isHeld: boolean;
  readonly backend: number;
}

/**
 * Asks for the sign of life of the poller `name`, on a pool of one connection, and gives it where it is not. Null when a
 * pooler stands before the server: it makes up the process number that it tells its clients, and a lock that is taken
 * through it belongs to whoever is given that session next.
 */
export async function readPulse(pool: Pool, name: string): Promise<Pulse | null> {
  return pool.run(async (sql) => {
    const { row, told } = await ask(sql, name, false);
    if (row.isHeld) return row;
    return row.backend === told ? (await ask(sql, name, true)).row : null;
  });
}

/** `told` is the process number that the client was told when it connected. */
async function ask(sql: Tx, name: string, mayTake: boolean): Promise<{ row: Row; told: number }> {
  const rows = await sql<[Row]>`
    select is_held as "isHeld", is_new as "isNew", backend, server, server_age_ms as "serverAgeMs", living,
           (select count(*)::int from unnest(living) as other (number) where other.number < poller_number(${name})) as rank
    from sign_of_life(${name}, ${mayTake})`;
  return { row: rows[0], told: rows.state.pid };
}

/** Ends the session, which leads elsewhere than the others: the next one is opened where they are. */
export async function endSession(pool: Pool): Promise<void> {
  await pool.run((sql) => sql`select pg_terminate_backend(pg_backend_pid())`).catch(() => undefined);
}
