/**
 * Whether the server takes writes. With a full disk PostgreSQL answers every read, so a look that only reads finds all well
 * while nothing can be appended, claimed or recorded.
 *
 * A standby and a read-only server say so. A full disk shows only in a write that needs room: each pool notes a write that was
 * refused, and from then on each look tries one, until it succeeds. Trying at every look would dirty the catalogs for nothing.
 */
import type { Pool, Tx } from './pool.ts';
import { areWritesRefused, noteRoom } from './refused-writes.ts';
import { hasCode, isUnavailable, REFUSED_WRITE } from './unavailable.ts';

export type WriteFault = 'standby' | 'read_only' | 'full';

/** Null when the server takes writes; `tries` one even where none was refused yet. Throws as the pool does. */
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
    // An event trigger that lets nobody create a table says nothing about the disk.
    return null;
  }
}

/** A statement came after one that had failed, whose own error the driver keeps to itself where that one was a COPY. */
const AFTER_A_FAILURE = /^25P02$/;

/** What a write that failed with `error` stumbled over: a disk without room is found by another try. */
export async function faultBehind(pool: Pool, error: unknown): Promise<unknown> {
  if (!hasCode(error, AFTER_A_FAILURE)) return error;
  return pool.transaction(tryToWrite).then(
    () => error,
    (found: unknown) => found,
  );
}

/** Needs a new page, and leaves none behind. A login that may make no temporary table is not told of a full disk. */
async function tryToWrite(tx: Tx): Promise<{ refused: 'undone' }> {
  const [{ may }] = await tx<[{ may: boolean }]>`
    select has_database_privilege(current_database(), 'temp') as may`;
  if (may) await tx`create temp table carteiro_room on commit drop as select i from generate_series(1, 2000) i`;
  return { refused: 'undone' };
}
