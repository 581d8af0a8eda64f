/**
 * The check of the whole chain: every seal's link, and every sealed row hashed again.
 *
 * It finds the first batch that is missing, whose seal was changed, or in which a row was changed, removed or added. The chain
 * alone cannot show that its tail was cut off together with the rows, or that it was made again from the start. A head that was
 * stored elsewhere shows both. Rows that no seal covers yet are not checked.
 * Measured on two busy cores: a million rows, 300,000 of them events with their messages, in 3.9 to 4.3 s.
 */
import type { Pool } from '../../db/pool.ts';
import { digestOf, LEAF_BYTES } from './batch.ts';
import { brokenLink, type Head, type Seal } from './chain.ts';
import { sealColumns, spanOf } from './seal.ts';

/** One statement hashes the rows of at most this many seals, and takes no further seal once it has this many rows. */
const CHUNK_SEALS = 256;
const CHUNK_ROWS = 65_536;
/** Statements at once. */
const PARALLEL = 3;

export interface Verification {
  readonly seals: number;
  readonly rows: number;
  /** The newest seal of the unbroken chain; null when there is none. */
  readonly head: Seal | null;
  /** The first batch that is not as it was sealed. */
  readonly broken: { readonly number: number; readonly reason: string } | null;
}

export interface VerifyOptions {
  /** A head that was stored elsewhere; null compares with none. */
  readonly anchor: Head | null;
  readonly onProgress?: (rows: number) => void;
}

/** Checks the chain from its beginning to its first broken batch, or to its end. */
export async function verifySeals(pool: Pool, { anchor, onProgress }: VerifyOptions): Promise<Verification> {
  let [head, seals, rows] = [null as Seal | null, 0, 0];
  for (;;) {
    const chunks = inChunks(await readSeals(pool, head?.number ?? 0, CHUNK_SEALS * PARALLEL)).slice(0, PARALLEL);
    const next = chunks.flat();
    if (next.length === 0) break;
    const found = (await Promise.all(chunks.map((chunk) => hashAgain(pool, chunk)))).flat();
    for (const [index, seal] of next.entries()) {
      const reason = brokenLink(head, seal) ?? brokenBatch(seal, found[index] ?? NOTHING) ?? brokenAnchor(seal, anchor);
      const expected = (head?.number ?? 0) + 1;
      if (reason !== null) return { seals, rows, head, broken: { number: expected, reason } };
      [head, seals, rows] = [seal, seals + 1, rows + seal.rows];
    }
    onProgress?.(rows);
  }
  const isCut = anchor !== null && anchor.number > (head?.number ?? 0);
  const number = (head?.number ?? 0) + 1;
  const broken = isCut ? { number, reason: `the chain was cut: the anchored head is seal ${anchor.number}` } : null;
  return { seals, rows, head, broken };
}

/** The seals of a chunk lie in one epoch, or the chunk is a single seal that spans two epochs. */
function inChunks(seals: readonly Seal[]): Seal[][] {
  const chunks: Seal[][] = [];
  let rows = 0;
  for (const seal of seals) {
    const last = chunks.at(-1);
    const isOther = last?.[0]?.firstEpoch !== seal.endEpoch || seal.firstEpoch !== seal.endEpoch;
    const isFull = last === undefined || last.length === CHUNK_SEALS || rows >= CHUNK_ROWS || isOther;
    if (isFull) chunks.push([seal]);
    else last.push(seal);
    rows = isFull ? seal.rows : rows + seal.rows;
  }
  return chunks;
}

interface Batch {
  readonly rows: number;
  readonly digest: Buffer | null;
}

const NOTHING: Batch = { rows: 0, digest: null };

function brokenBatch(seal: Seal, { rows, digest }: Batch): string | null {
  if (digest?.equals(seal.digest)) return null;
  if (rows < seal.rows) return `${seal.rows - rows} of its ${seal.rows} rows were removed`;
  if (rows > seal.rows) return `${rows - seal.rows} rows were added to its ${seal.rows}`;
  return `of its ${seal.rows} rows at least one was changed`;
}

function brokenAnchor(seal: Seal, anchor: Head | null): string | null {
  if (anchor?.number !== seal.number || anchor.hash.equals(seal.hash)) return null;
  return 'its hash is not the anchored one: the chain was made anew';
}

async function readSeals(pool: Pool, after: number, limit: number): Promise<Seal[]> {
  return pool.run(
    (sql) => sql<Seal[]>`select ${sealColumns(sql)} from seals where number > ${after} order by number limit ${limit}`,
  );
}

/** The rows that lie in the span of each of these seals now. A removed seal leaves a gap, whose rows belong to no seal. */
async function hashAgain(pool: Pool, seals: readonly Seal[]): Promise<Batch[]> {
  const [first] = seals;
  if (first === undefined) return [];
  if (first.firstEpoch !== first.endEpoch) return [await hashOne(pool, first)];
  const starts = seals.map((seal) => seal.firstTx);
  const ends = seals.map((seal) => seal.endTx);
  const isInOrder = starts.every((start, index) => index === 0 || start > (starts[index - 1] ?? 0));
  // The link of one of these seals is broken, and that is reported.
  if (!isInOrder) return [];
  const found = await pool.run(
    (sql) => sql<{ span: number; leaves: Buffer }[]>`
      select span, string_agg(leaf, '') as leaves
      from (
        select tx, width_bucket(tx, ${starts}::bigint[]) as span, leaf
        from sealable_rows
        where epoch = ${first.firstEpoch} and tx >= ${starts[0] ?? 0} and tx < ${ends.at(-1) ?? 0}
      ) placed
      where tx < (${ends}::bigint[])[span]
      group by span`,
  );
  const byPlace = new Map(
    found.map(({ span, leaves }) => [span, { rows: leaves.length / LEAF_BYTES, digest: digestOf(leaves) }]),
  );
  return seals.map((_, index) => byPlace.get(index + 1) ?? NOTHING);
}

async function hashOne(pool: Pool, seal: Seal): Promise<Batch> {
  const [row] = await pool.run(
    (sql) => sql<{ leaves: Buffer | null }[]>`
      select string_agg(leaf, '') as leaves from sealable_rows where ${spanOf(sql, seal)}`,
  );
  const leaves = row?.leaves ?? null;
  return leaves === null ? NOTHING : { rows: leaves.length / LEAF_BYTES, digest: digestOf(leaves) };
}
