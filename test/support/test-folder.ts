/**
 * Temporary folders of test runs. A run that is killed leaves its folders, and servers in them, behind. Each folder has
 * a lock that its run holds as long as it lives: what the next run can lock, it may sweep, whoever else is running.
 */
import { access, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopOrphan } from '../../src/db/embedded.ts';
import { tryLock } from '../../src/db/file-lock.ts';

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
  const release = tryLock(join(path, OWNER), 'shared');
  const remove = async (): Promise<void> => {
    await rm(path, { recursive: true, force: true });
    release?.();
  };
  return { path, remove };
}

async function sweep(path: string): Promise<void> {
  // Without a lock file it is being made this very moment, or is none of ours.
  await access(join(path, OWNER));
  const release = tryLock(join(path, OWNER), 'exclusive');
  if (!release) return;
  try {
    if (await stopOrphan(path)) await rm(path, { recursive: true, force: true });
  } finally {
    release();
  }
}

/** Stops and deletes what dead runs left behind. */
export async function sweepDeadRuns(): Promise<void> {
  const folders = (await readdir(tmpdir())).filter((name) => name.startsWith(PREFIX));
  // One that cannot be swept belongs to another user, or somebody else swept it first.
  await Promise.all(folders.map((name) => sweep(join(tmpdir(), name)).catch(() => undefined)));
}
