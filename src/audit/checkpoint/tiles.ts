/** The log's tree as C2SP tlog-tiles serves it: 256 hashes of a level, and the entries of the seals themselves. */
import type { Tx } from '../../db/pool.ts';
import { countOf, TILE } from '../seals/tree/merkle.ts';
import { findLogHashes, readSeals, sealEntry } from '../seals/seal-log.ts';

/** Null where the log does not have `width` hashes there yet. */
export function readTile(level: number) {
  return async (tx: Tx, index: number, width: number): Promise<Buffer | null> => {
    const hashes = await findLogHashes(tx, level, index * TILE, index * TILE + width);
    return countOf(hashes) === width ? hashes : null;
  };
}

/** Each entry behind its length in two bytes. */
export async function readTileEntries(tx: Tx, index: number, width: number): Promise<Buffer | null> {
  const seals = await readSeals(tx, index * TILE, width);
  if (seals.length !== width) return null;
  return Buffer.concat(
    seals.flatMap((seal) => {
      const entry = sealEntry(seal);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(entry.length);
      return [length, entry];
    }),
  );
}
