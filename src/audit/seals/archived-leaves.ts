/** Seals whose rows left the database for an archive: the leaves in the files stand for the rows. */
import type { Pool } from '../../db/pool.ts';
import { compareRows, ofSeal, type VerifyFinding } from './compare-rows.ts';
import { LeafList, type Leaves } from './leaves.ts';
import { HASH_BYTES } from './tree/merkle.ts';
import { readEntries, type Sight, within } from './rows.ts';
import type { Seal } from './seal-log.ts';

/** What months' files have of seals whose rows may have left the database. */
export interface ArchivedSeals {
  /** Null where the seal's rows must be in the database. */
  readonly leaves: (seal: number) => Promise<ArchivedLeaves | null>;
  /** Of what erasing would leave of a seal's archived events (remains.ts); null where its events are in the database. */
  readonly rests: (seal: number) => Promise<Buffer[] | null>;
  readonly close: () => Promise<void>;
}

export const NO_ARCHIVE: ArchivedSeals = {
  leaves: async () => null,
  rests: async () => null,
  close: async () => undefined,
};

/** The leaves of a seal in its month's files, which give the seal's root; or why there are none. */
export type ArchivedLeaves =
  | {
      readonly leaves: Leaves;
      /** Whether the database may lack these of them now. */
      readonly mayLack: (rows: readonly number[]) => Promise<boolean>;
    }
  | { readonly fault: string };

/** A loan's events may come back or leave after the rows were read and before it is asked which may be missing. */
const LOOKS = 3;

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
  for (let [rows, looks] = [found, 1]; ; looks += 1) {
    const lacking = lackingIn(rows, archived.leaves);
    if (lacking !== null && (await archived.mayLack(lacking))) return [];
    if (looks === LOOKS) return compareRows(pool, seal, rows, sight);
    rows = await readLeaves(pool, seal, sight);
  }
}

async function readLeaves(pool: Pool, seal: Seal, sight: Sight): Promise<Leaves> {
  const list = new LeafList();
  await pool.run((sql) => readEntries(sql, within(seal), sight, list.add));
  return list.finish();
}

/** The places among all of the leaves that some lack; null if one is not among all. Both are sorted. */
function lackingIn({ hashes: some }: Leaves, { hashes: all, rows }: Leaves): number[] | null {
  const lacking: number[] = [];
  let from = 0;
  for (let row = 0; row < rows; row += 1) {
    const at = row * HASH_BYTES;
    const isThere = from < some.length && all.compare(some, from, from + HASH_BYTES, at, at + HASH_BYTES) === 0;
    if (isThere) from += HASH_BYTES;
    else lacking.push(row);
  }
  return from === some.length ? lacking : null;
}
