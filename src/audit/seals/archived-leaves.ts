/** Seals whose rows left the database for an archive: the leaves in the files stand for the rows. */
import type { Pool } from '../../db/pool.ts';
import { compareRows, ofSeal, type VerifyFinding } from './compare-rows.ts';
import type { Leaves } from './leaves.ts';
import { countOf, hashAt } from './tree/merkle.ts';
import type { Sight } from './rows.ts';
import type { Seal } from './seal-log.ts';

/** The leaves of a seal in its month's files, which give the seal's root, and which of them the database may lack; or why there are none. */
export type ArchivedLeaves =
  | {
      readonly leaves: Leaves;
      readonly mayLack: Leaves;
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
  const there = setOf(found);
  const missing = setOf(archived.leaves).difference(there);
  const isStrange = there.size + missing.size !== countOf(archived.leaves.hashes);
  if (isStrange || !missing.isSubsetOf(setOf(archived.mayLack))) return compareRows(pool, seal, found, sight);
  return [];
}

function setOf({ hashes, rows }: Leaves): Set<string> {
  return new Set(Array.from({ length: rows }, (_, index) => hashAt(hashes, index).toString('latin1')));
}
