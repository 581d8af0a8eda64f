import { stat } from 'node:fs/promises';

/**
 * Changes when one of the files is written or replaced, so that rotated keys and tokens need no restart; null stands for no file. Rejects
 * as `stat` does.
 */
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
