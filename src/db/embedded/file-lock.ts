/**
 * Locks between processes that the kernel releases when their holder dies, also after `kill -9`.
 * Node has no flock, and a pid file is wrong after a crash, when another process may have that pid. So we lock an empty SQLite file,
 * through which SQLite takes a record lock; nothing is written to it. SQLite also makes two holders in one process exclude each other.
 */
import { DatabaseSync } from 'node:sqlite';

/** Calling it again does nothing. */
export type Release = () => void;

const SQLITE_BUSY = 5;

/** Keeps held locks reachable: a collected database would close itself and drop its lock. */
const held = new Set<DatabaseSync>();

/** Undefined when the lock is taken. */
export function tryLock(file: string): Release | undefined {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw new Error(`cannot lock ${file}`, { cause: error });
  }
  held.add(database);
  return () => {
    if (held.delete(database)) database.close();
  };
}
