/**
 * The check of the whole chain: every seal's link, and every sealed row hashed again.
 *
 * It finds the first batch in which a row was changed, removed or added, whose seal was changed, or that is missing.
 * What the chain cannot show by itself is a tail cut off together with its rows, or a chain made anew from the start:
 * for that a head kept outside is compared. Rows that no seal covers yet are not checked.
 * Measured on two busy cores: a million attempts in 4.7 to 6.6 s; 100,000 events with their bodies in 0.7 s.
 */
import type { Pool } from '../db/pool.ts';
import { brokenLink, type Head, type Seal } from './chain.ts';
import { sealColumns } from './seal.ts';

/** Seals whose rows one statement hashes again: about 65,000 rows. */
const CHUNK = 64;
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
  /** A head that was kept outside; null compares with none. */
  readonly anchor: Head | null;
  readonly onProgress?: (rows: number) => void;
}

/** Checks the chain from its beginning to its first broken batch, or to its end. */
export async function verifySeals(pool: Pool, { anchor, onProgress }: VerifyOptions): Promise<Verification> {
  let [head, seals, rows] = [null as Seal | null, 0, 0];
  for (;;) {
    const next = await readSeals(pool, head?.number ?? 0, CHUNK * PARALLEL);
    if (next.length === 0) break;
    const chunks = Array.from({ length: Math.ceil(next.length / CHUNK) }, (_, index) =>
      next.slice(index * CHUNK, (index + 1) * CHUNK),
    );
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

/** What lies in the span of each of these seals now. A seal taken out leaves a gap, whose rows are nobody's. */
async function hashAgain(pool: Pool, seals: readonly Seal[]): Promise<Batch[]> {
  const starts = seals.map((seal) => seal.firstTx);
  const ends = seals.map((seal) => seal.endTx);
  const isInOrder = starts.every((start, index) => index === 0 || start > (starts[index - 1] ?? 0));
  // The link of one of them is broken, which is what will be told.
  if (!isInOrder) return [];
  const found = await pool.run(
    (sql) => sql<{ place: number; rows: number; digest: Buffer }[]>`
      select place, count(*)::int as rows, sha256(string_agg(leaf, ''::bytea order by leaf)) as digest
      from (
        select tx, width_bucket(tx, ${starts}::bigint[]) as place, sha256(convert_to(line, 'UTF8')) as leaf
        from sealable_rows
        where tx >= ${starts[0] ?? 0} and tx < ${ends.at(-1) ?? 0}
      ) leaves
      where tx < (${ends}::bigint[])[place]
      group by place`,
  );
  const byPlace = new Map(found.map((batch) => [batch.place, batch]));
  return seals.map((_, index) => byPlace.get(index + 1) ?? NOTHING);
}
