/**
 * Temporary folders of test runs, which may hold an embedded server. A killed run leaves its folder behind, with the server in
 * it. Each folder has a lock that its process holds for life, so a later process may sweep each folder that it can lock. It looks
 * only at folders of its own user; another user's may contain links to anything.
 */
import { access, lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryLock } from '../../src/db/embedded/file-lock.ts';
import { endOf } from './ends.ts';
import { stopOrphan } from './stop-orphan.ts';

const PREFIX = 'carteiro-test-';
const OWNER = 'owner.lock';

export interface TestFolder {
  readonly path: string;
  /** Deletes the folder with all that is in it. */
  remove(): Promise<void>;
}

/** A folder with mode 0700 that may serve as a DATA_DIR. */
export async function makeTestFolder(): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), PREFIX));
  const release = tryLock(join(path, OWNER));
  const remove = endOf(async () => {
    await rm(path, { recursive: true, force: true });
    release?.();
  });
  return { path, remove };
}

/** Stops the servers and deletes the folders of runs that died. */
export async function sweepDeadRuns(): Promise<void> {
  const folders = (await readdir(tmpdir())).filter((name) => name.startsWith(PREFIX));
  // What cannot be swept is a server that does not stop, or somebody else swept it first.
  await Promise.all(folders.map((name) => sweep(join(tmpdir(), name)).catch(() => undefined)));
}

async function sweep(path: string): Promise<void> {
  const status = await lstat(path);
  if (!status.isDirectory() || status.uid !== process.getuid?.()) return;
  // Without a lock file it is being made this very moment, or is none of ours.
  await access(join(path, OWNER));
  const release = tryLock(join(path, OWNER));
  if (!release) return;
  try {
    if (await stopOrphan(path)) await rm(path, { recursive: true, force: true });
  } finally {
    release();
  }
}
