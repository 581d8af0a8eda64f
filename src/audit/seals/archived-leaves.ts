/** Seals whose rows left the database for an archive: the leaves in the files stand for the rows. */
import type { Pool } from '../../db/pool.ts';
import { compareRows, ofSeal, type VerifyFinding } from './compare-rows.ts';
import { LeafList, type Leaves } from './leaves.ts';
import { HASH_BYTES } from './tree/merkle.ts';
import { readEntries, type Sight, within } from './rows.ts';
import type { Seal } from './seal-log.ts';

/** The leaves of a seal in its month's files, which give the seal's root, and those of rows that never leave the database; or why there are none. */
export type ArchivedLeaves =
  | {
      readonly leaves: Leaves;
      readonly stay: Leaves;
      /** Of what erasing would leave of the archived events (remains.ts). */
      readonly rests: () => Promise<Buffer[]>;
    }
  | { readonly fault: string };

/** The fault of a seal whose rows are not all in the database; null where each missing row is in the archive. */
export async function compareArchived(
  pool: Pool,
  seal: Seal,
  found: Leaves,
  sight: Sight,
  archived: ArchivedLeaves | null,
): Promise<VerifyFinding[]> {
  if (archived === null) return compareRows(pool, seal, found, sight);
  if ('fault' in archived) return [ofSeal('arquivo_alterado', seal.number, archived.fault)];
  const fits = (rows: Leaves) => isWithin(rows, archived.leaves) && isWithin(archived.stay, rows);
  // A loan's events may have come back after the rows were read and before the files were.
  const now = fits(found) ? found : await readLeaves(pool, seal, sight);
  return fits(now) ? [] : compareRows(pool, seal, now, sight);
}

async function readLeaves(pool: Pool, seal: Seal, sight: Sight): Promise<Leaves> {
  const list = new LeafList();
  await pool.run((sql) => readEntries(sql, within(seal), sight, list.add));
  return list.finish();
}

/** Whether all of some leaves are among others. Both are sorted. */
function isWithin({ hashes: some }: Leaves, { hashes: all }: Leaves): boolean {
  let at = 0;
  const isTo = (from: number) => all.compare(some, from, from + HASH_BYTES, at, at + HASH_BYTES);
  for (let from = 0; from < some.length; from += HASH_BYTES, at += HASH_BYTES) {
    while (at < all.length && isTo(from) < 0) at += HASH_BYTES;
    if (at >= all.length || isTo(from) !== 0) return false;
  }
  return true;
}
