/**
 * A file made once and then only read: a key that a process needs and nobody has given it. Two processes may need it first at the same
 * moment: each writes a draft and links it to the file's name, which succeeds for one; both then read the winner's. A killed process leaves
 * at most a draft.
 */
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Reads `path`, made with `make` if missing; only its owner can read it. */
export async function readOrMakeFile(path: string, make: () => string | Promise<string>): Promise<string> {
  const found = await readIfThere(path);
  if (found !== null) return found;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(await make());
    await file.sync();
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await file.close();
    await unlink(draft);
  }
  return readFile(path, 'utf8');
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Error(`cannot read ${path}`, { cause: error });
  }
}
