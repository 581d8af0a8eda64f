/** The checkpoints that were signed, in the database. */
import type { Tx } from '../../db/pool.ts';
import { ofSeal, type VerifyFinding } from '../seals/compare-rows.ts';
import { consistencyPath, rangeRoot, type TreeHead } from '../seals/tree/merkle.ts';
import { readLastSeal, readLogHashes } from '../seals/seal-log.ts';
import { openCheckpoint, signCheckpoint } from './checkpoint.ts';
import type { Signer, Verifier } from './note.ts';

export interface StoredCheckpoint extends TreeHead {
  readonly note: string;
}

/** That of `size` seals, or without a size the newest; null when there is none. */
export async function readCheckpoint(tx: Tx, size: number | null = null): Promise<StoredCheckpoint | null> {
  const [row] = await tx<StoredCheckpoint[]>`
    select size::float8, root, note from checkpoints
    where ${size}::bigint is null or size = ${size} order by size desc limit 1`;
  return row ?? null;
}

/** The notes that were the newest at these times, in turn; null before the first. */
export async function readNotesAt(tx: Tx, times: readonly Date[]): Promise<readonly (string | null)[]> {
  const rows = await tx<{ note: string | null }[]>`
    select c.note from unnest(${times.map((time) => time.toISOString())}::text[]::timestamptz[]) with ordinality t (at, nth)
    left join lateral (select note from checkpoints where signed_at <= t.at order by signed_at desc limit 1) c on true
    order by nth`;
  return rows.map(({ note }) => note);
}

/** The newest checkpoint does not lie in the log's tree: somebody changed the log below it. */
class ForkedLog extends Error {
  override name = 'ForkedLog';
}

/**
 * Signs the log's head and stores it, if it has grown. Throws {@link ForkedLog} if it does not extend the newest checkpoint.
 */
export async function signHead(tx: Tx, [first, ...others]: readonly Signer[]): Promise<void> {
  if (first === undefined) return;
  const last = await readLastSeal(tx);
  const before = await readCheckpoint(tx);
  if (last === null) return;
  const read = readLogHashes(tx);
  const isGrown =
    before === null || (before.size <= last.number && (await rangeRoot(read, 0, before.size)).equals(before.root));
  if (!isGrown)
    throw new ForkedLog(`the log is not the one whose head of ${before?.size} seals was signed: run audit verify`);
  if (last.number === before?.size) return;
  const head = { size: last.number, root: await rangeRoot(read, 0, last.number) };
  const note = signCheckpoint(head, [first, ...others]);
  await tx`insert into checkpoints (size, root, note) values (${head.size}, ${head.root}, ${note}) on conflict do nothing`;
}

/** The proof that the head of `size` seals grew out of that of `old`, with both roots; null when the log has fewer. */
export async function readConsistency(tx: Tx, old: number, size: number) {
  const last = await readLastSeal(tx);
  if (last === null || size > last.number) return null;
  const read = readLogHashes(tx);
  const [from, to] = [await rangeRoot(read, 0, old), await rangeRoot(read, 0, size)];
  return { from, to, path: await consistencyPath(read, old, size) };
}

const AT_ONCE = 1_000;

/** Those above `after` seals that none of `keys` has signed, or whose note says something else; nothing without a key. */
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
