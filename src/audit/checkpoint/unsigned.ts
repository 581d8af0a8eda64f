/** Stored checkpoints that none of the log's keys has signed, or whose note says something else than their row. */
import type { Tx } from '../../db/pool.ts';
import { ofSeal, type VerifyFinding } from '../seals/compare-rows.ts';
import type { TreeHead } from '../seals/tree/merkle.ts';
import { openCheckpoint } from './checkpoint.ts';
import type { Verifier } from './note.ts';

const AT_ONCE = 1_000;

/** Of those above `after` seals; nothing without a key. */
export async function findUnsigned(sql: Tx, after: number, keys: readonly Verifier[]): Promise<VerifyFinding[]> {
  const found: VerifyFinding[] = [];
  if (keys.length === 0) return found;
  const stored = sql<(TreeHead & { note: string })[]>`
    select size::float8, root, note from checkpoints where size > ${after} order by size`;
  for await (const some of stored.cursor(AT_ONCE)) {
    for (const { size, root, note } of some) {
      const signed = openCheckpoint(note, keys);
      if (signed?.size === size && signed.root.equals(root)) continue;
      found.push(ofSeal('assinatura_invalida', size, 'no key of the log has signed this checkpoint', 'checkpoints'));
    }
  }
  return found;
}
