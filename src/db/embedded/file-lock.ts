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
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';

type LockMode = 'shared' | 'exclusive';
/** Lets go of the lock. Calling it again does nothing. */
export type Release = () => void;

const SQLITE_BUSY = 5;
const POLL_MS = 50;

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

/** Takes the lock on `file` if it is free for `mode`, else returns undefined. Shared holders exclude an exclusive one. */
export function tryLock(file: string, mode: LockMode): Release | undefined {
  const database = openLockFile(file);
  try {
    if (mode === 'exclusive') database.exec('begin exclusive');
    else database.exec('begin; select count(*) from sqlite_master');
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

/** Waits for the exclusive lock on `file`; throws after `timeoutMs`, and the reason of `stopping` when that comes. */
export async function lockExclusive(file: string, timeoutMs: number, stopping?: AbortSignal): Promise<Release> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    stopping?.throwIfAborted();
    const release = tryLock(file, 'exclusive');
    if (release) return release;
    if (performance.now() > giveUpAt) throw new Error(`${file} is locked by another process for over ${timeoutMs} ms`);
    await sleep(POLL_MS);
  }
}
