/**
 * Locks between processes that the kernel releases when their holder dies, also after `kill -9`.
 * Node has no flock, and a pid file is wrong after a crash, when another process may have that pid. So we lock an empty SQLite file,
 * through which SQLite takes a record lock; nothing is written to it. SQLite also makes two holders in one process exclude each other.
 */
import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Calling it again does nothing. */
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

/** The system's own reason, which SQLite hides. Does not open the file: closing it would drop its locks. */
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

/** Undefined when the lock is taken. */
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
