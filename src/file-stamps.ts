/** Tells whether files have changed since they were read, so that a rotated key or token needs no restart. */
import { stat } from 'node:fs/promises';

/** What changes when one of the files is written or exchanged; null stands for no file. Rejects as `stat` does. */
export async function stampOf(files: readonly (string | null)[]): Promise<string> {
  const stamps = await Promise.all(
    files.map(async (file) => {
      if (file === null) return '-';
      const { ino, mtimeNs, size } = await stat(file, { bigint: true });
      return `${ino}:${mtimeNs}:${size}`;
    }),
  );
  return stamps.join(' ');
}
