/** The rows that seals cover, hashed again in chunks of consecutive seals, {@link PARALLEL} at once, and yielded in order. */
import type { Pool } from '../../db/pool.ts';
import type { VerifyFinding } from './compare-rows.ts';
import { LeafCollector, type Leaves, type TableCounts } from './leaves.ts';
import { levelAbove, rootOf, sha256 } from './tree/merkle.ts';
import { readEntries, type Sight, within } from './rows.ts';
import { readSeals, type Seal } from './seal-log.ts';
import { findUnexpectedTimes } from './unsealed.ts';

/** One statement reads the rows of at most this many seals, and takes no further seal once it has this many rows. */
const CHUNK_SEALS = 1_024;
const CHUNK_ROWS = 65_536;
const PARALLEL = 3;

interface HashedAgain {
  readonly seal: Seal;
  readonly leaves: Leaves;
  readonly isWhole: boolean;
  /** Proofs are made of what is kept beside the seal, so that must be right, too. */
  readonly isTreeKept: boolean;
}

interface Chunk {
  readonly seals: readonly HashedAgain[];
  readonly counts: TableCounts;
  readonly unexpectedTimes: readonly VerifyFinding[];
}

/** Of all seals after `last`, in order, what their rows hash to now; those up to `counted` are counted by their tables. */
export async function* hashSealsAgain(
  pool: Pool,
  last: Seal | null,
  sight: Sight,
  counted: Seal | null,
): AsyncGenerator<Chunk> {
  const flying: Promise<Chunk>[] = [];
  for await (const [seals, before] of inChunks(pool, last, counted)) {
    const isCounted = counted !== null && (seals[0]?.number ?? 0) <= counted.number;
    const chunk = hashAgain(pool, seals, before, { sight, isCounted });
    // It is awaited later; until then a rejection must not count as unhandled.
    chunk.catch(() => undefined);
    flying.push(chunk);
    if (flying.length === PARALLEL) yield (await flying.shift()) as Chunk;
  }
  for (const chunk of flying) yield await chunk;
}

/** Consecutive seals of one statement, and when the one before them was made; a seal that spans two epochs gets its own statement. */
async function* inChunks(
  pool: Pool,
  from: Seal | null,
  counted: Seal | null,
): AsyncGenerator<readonly [readonly Seal[], Date | null]> {
  let last = from;
  for (;;) {
    const read = await pool.run((sql) => readSeals(sql, last?.number ?? 0, CHUNK_SEALS));
    if (read.length === 0) return;
    let [chunk, rows]: [Seal[], number] = [[], 0];
    for (const seal of read) {
      const before = chunk.at(-1);
      const follows = before?.end.epoch === seal.from.epoch && before.end.tx === seal.from.tx;
      const isOneEpoch = before?.from.epoch === seal.end.epoch;
      const isBorder = before !== undefined && before.number === counted?.number;
      if (before !== undefined && (isBorder || !(follows && isOneEpoch && rows + seal.rows <= CHUNK_ROWS))) {
        yield [chunk, last?.sealedAt ?? null];
        [last, chunk, rows] = [before, [], 0];
      }
      chunk.push(seal);
      rows += seal.rows;
    }
    yield [chunk, last?.sealedAt ?? null];
    last = chunk.at(-1) ?? null;
  }
}

async function hashAgain(
  pool: Pool,
  seals: readonly Seal[],
  before: Date | null,
  { sight, isCounted }: { readonly sight: Sight; readonly isCounted: boolean },
): Promise<Chunk> {
  const [first, last] = [seals[0], seals.at(-1)];
  if (first === undefined || last === undefined) return { seals: [], counts: new Map(), unexpectedTimes: [] };
  const span = within({ from: first.from, end: last.end });
  const counts: TableCounts = new Map();
  const collector = new LeafCollector(
    seals.length === 1 ? [Infinity] : seals.map(({ end }) => end.tx),
    isCounted ? counts : null,
  );
  const [trees, unexpectedTimes] = await pool.run(async (sql) => {
    await readEntries(sql, span, sight, collector.add);
    const kept = await sql<{ number: number; leaves: Buffer; nodes: Buffer }[]>`
      select number::float8, sha256(leaves) as leaves, sha256(nodes) as nodes
      from seal_trees where number between ${first.number} and ${last.number}`;
    return [kept, await findUnexpectedTimes(sql, seals, before)] as const;
  });
  const kept = new Map(trees.map((tree) => [tree.number, tree]));
  const found = await collector.finish();
  const hashed = seals.map((seal, index): HashedAgain => {
    const leaves = found[index] as Leaves;
    const nodes = levelAbove(leaves.hashes);
    const tree = kept.get(seal.number);
    return {
      seal,
      leaves,
      isWhole: leaves.rows === seal.rows && rootOf(nodes).equals(seal.root),
      isTreeKept: tree !== undefined && tree.leaves.equals(sha256(leaves.hashes)) && tree.nodes.equals(sha256(nodes)),
    };
  });
  return { seals: hashed, counts, unexpectedTimes };
}
