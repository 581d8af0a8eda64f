/**
 * Whether the server takes writes. With a full disk PostgreSQL still answers every read, so a reading check finds all well while nothing
 * can be appended, claimed or recorded.
 * A standby and a read-only server say so. A full disk shows only in a write that needs space: each pool notes a refused write, and from
 * then on each check tries one until it succeeds. Trying at every check would bloat the catalogs.
 */
import type { Pool, Tx } from './pool.ts';
import { areWritesRefused, noteRoom } from './refused-writes.ts';
import { hasCode, isUnavailable, REFUSED_WRITE } from './unavailable.ts';

export type WriteFault = 'standby' | 'read_only' | 'full';

/** Null when the server takes writes; `tries` one even if none was refused. Throws as the pool does. */
export async function readWriteFault(pool: Pool, tries = false): Promise<WriteFault | null> {
  const [server] = await pool.run(
    (sql) => sql<[{ isStandby: boolean; isReadOnly: boolean }]>`
      select pg_is_in_recovery() as "isStandby", current_setting('default_transaction_read_only')::boolean as "isReadOnly"`,
  );
  if (server.isStandby) return 'standby';
  if (server.isReadOnly) return 'read_only';
  if (!tries && !areWritesRefused()) return null;
  try {
    await pool.transaction(tryToWrite);
    noteRoom();
    return null;
  } catch (error) {
    if (hasCode(error, REFUSED_WRITE)) return 'full';
    if (isUnavailable(error)) throw error;
    // An event trigger that forbids tables says nothing about the disk.
    return null;
  }
}

/** A statement after a failed one, whose error the driver hides if it was a COPY. */
const AFTER_A_FAILURE = /^25P02$/;

/** The cause of a failed write's `error`; a full disk is detected by another try. */
export async function faultBehind(pool: Pool, error: unknown): Promise<unknown> {
  if (!hasCode(error, AFTER_A_FAILURE)) return error;
  return pool.transaction(tryToWrite).then(
    () => error,
    (found: unknown) => found,
  );
}

/** Needs a new page and leaves none behind. A login without the right to temporary tables learns nothing of a full disk. */
async function tryToWrite(tx: Tx): Promise<{ refused: 'undone' }> {
  const [{ may }] = await tx<[{ may: boolean }]>`
    select has_database_privilege(current_database(), 'temp') as may`;
  if (may) await tx`create temp table carteiro_room on commit drop as select i from generate_series(1, 2000) i`;
  return { refused: 'undone' };
}
