/** A file for each checkpoint, named by size and root and never overwritten, in an append-only directory (`chattr +a`). */
import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { readCheckpointText } from '../checkpoint/checkpoint.ts';
import type { Anchor } from './anchor.ts';

/** `000000000000041-9f3c2b11.checkpoint`: names sort by size. */
export function nameOf(note: string): string {
  const checkpoint = readCheckpointText(note);
  if (checkpoint === null) throw new Error('the note is no checkpoint');
  return `${String(checkpoint.size).padStart(15, '0')}-${checkpoint.root.toString('hex', 0, 4)}.checkpoint`;
}

export function directoryAnchor(directory: string): Anchor {
  return {
    kind: 'arquivo',
    place: directory,
    async put({ note }) {
      const name = nameOf(note);
      const file = path.join(directory, name);
      try {
        await writeOnce(file, note);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ENOENT') throw new Error('the directory is not there: make it, or mount it', { cause: error });
        if (code !== 'EEXIST') throw error;
        if ((await readFile(file, 'utf8')) !== note) {
          throw new Error(`${file} is there with another content`, { cause: error });
        }
      }
      await syncDirectory(directory);
      return Buffer.from(name);
    },
  };
}

/** A crash between the two steps leaves a shorter file; the next run reports it as a file with other content. */
async function writeOnce(file: string, text: string): Promise<void> {
  await using handle = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o444);
  await handle.writeFile(text);
  await handle.sync();
}

/** The names in it then outlive a crash. */
export async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, constants.O_RDONLY);
  await handle.sync();
}
