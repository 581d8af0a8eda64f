/**
 * Locks between processes that the kernel releases when their holder dies.
 *
 * Invariant: a lock is held exactly while a living process holds it, also after `kill -9`. Node has no flock, and a file that
 * names its owner's pid is wrong after a crash, when another process may have that pid. So we lock an empty SQLite file:
 * SQLite takes a record lock of the operating system. Nothing is ever written to it. SQLite also does the bookkeeping by
 * which two holders in one process exclude each other.
 */
import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Lets go of the lock. Calling it again does nothing. */
export type Release = () => void;

const SQLITE_BUSY = 5;

/** Keeps held locks reachable: a collected database would close itself and drop its lock. */
const held = new Set<DatabaseSync>();

function openLockFile(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { timeout: 0 });
  } catch (error) {
    throw new Error(`cannot open ${file}: ${refusalOf(file) ?? (error as Error).message}`, { cause: error });
  }
}

/** The system's own reason, which SQLite does not tell. Asked without opening the file: closing it would drop its locks. */
function refusalOf(file: string): string | undefined {
  for (const path of [file, dirname(file)]) {
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOENT') return (error as Error).message;
    }
  }
  return undefined;
}

/** Takes the lock on `file` if it is free, else returns undefined. */
export function tryLock(file: string): Release | undefined {
  const database = openLockFile(file);
  try {
    database.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw new Error(`cannot lock ${file}: ${refusalOf(file) ?? (error as Error).message}`, { cause: error });
  }
  held.add(database);
  return () => {
    if (held.delete(database)) database.close();
  };
}
