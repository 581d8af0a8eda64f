/**
 * The check of the whole log: every sealed row is read and hashed again, every seal is held against its rows and its place, and
 * the log's tree against each checkpoint that was signed.
 *
 * It reads tables, by statements of this release, and hashes in this process. It goes on after a finding, and names the row
 * and its columns where the seal's own tree, which is kept beside it, still fits the seal. The log alone cannot show that it was
 * made anew as a whole, or cut short. A head that was kept elsewhere shows both.
 */
import type { Installation } from '../../db/installation.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import type { Verifier } from '../checkpoint/note.ts';
import { findUnsigned } from '../checkpoint/unsigned.ts';
import { findStrangeErasures } from './erased.ts';
import { findStrangeDeliveries, findStrangeStates } from './state.ts';
import { findStrangeTimes, findUnsealed } from './unsealed.ts';
import { type CommonHead, describeFork } from './fork.ts';
import { type ArchivedLeaves, compareArchived } from './archived-leaves.ts';
import { ofSeal, type VerifyFinding, wrongTree } from './compare-rows.ts';
import { GrowingTree } from './growing-tree.ts';
import { LeafCollector, type Leaves } from './leaves.ts';
import { leafHash, levelAbove, rootOf, sha256, type TreeHead } from './merkle.ts';
import { findStrangeDefinitions, findStrangeTables } from './tables.ts';
import { type LogPoint, readEntries, type Sight, sightOf, within } from './rows.ts';
import { readLogHashes, readSeals, type Seal, sealEntry } from './seal-log.ts';

/** One statement reads the rows of at most this many seals, and takes no further seal once it has this many rows. */
const CHUNK_SEALS = 1_024;
const CHUNK_ROWS = 65_536;
/** Statements at once. */
const PARALLEL = 3;
const TILE_BITS = 8;

export interface Verification {
  readonly seals: number;
  readonly rows: number;
  /** The log's head as it was computed; null when there is no seal. */
  readonly head: TreeHead | null;
  readonly findings: readonly VerifyFinding[];
}

export interface VerifyOptions {
  /** Heads that were kept elsewhere. */
  readonly heads?: readonly TreeHead[];
  /** The head that an earlier verdict ended at: rows that it covers are not read again. */
  readonly since?: TreeHead | null;
  /** Whom stored checkpoints must be signed by; none are looked at without. */
  readonly keys?: readonly Verifier[];
  /** Whose objects are compared with the release's own; none are without. */
  readonly installation?: Installation;
  /** Where a run was cut short that this one goes on with. */
  readonly unfinished?: Verification | null;
  /** What the archive has of a seal whose rows may have left the database; null where they may not. */
  readonly archived?: (seal: number) => Promise<ArchivedLeaves | null>;
  /** Hears how far the run has come, so that another can go on with it. */
  readonly onPart?: (found: Verification) => Promise<void> | void;
}

/** Checks the log to its end. */
export async function verifySeals(
  pool: Pool,
  {
    heads = [],
    since = null,
    keys = [],
    installation,
    unfinished = null,
    onPart,
    archived = async () => null,
  }: VerifyOptions = {},
): Promise<Verification> {
  const signed = await pool.run((sql) => sql<TreeHead[]>`select size::float8, root from checkpoints order by size`);
  const run = new Run([...signed, ...heads, ...(since === null ? [] : [since])]);
  const sight = await pool.run(sightOf);
  const from = await run.begin(pool, since, unfinished);
  run.tell(...(await pool.run(findStrangeTables)));
  if (installation !== undefined) run.tell(...(await findStrangeDefinitions(pool, installation)));
  for (;;) {
    const [after, before] = [run.last?.number ?? 0, run.last?.sealedAt ?? null];
    const next = inChunks(await pool.run((sql) => readSeals(sql, after, CHUNK_SEALS * PARALLEL))).slice(0, PARALLEL);
    if (next.length === 0) break;
    const found = (await Promise.all(next.map((chunk) => hashAgain(pool, chunk, sight)))).flat();
    for (const [index, seal] of next.flat().entries()) {
      const again = found[index];
      await run.look(pool, seal, again !== undefined);
      if (again === undefined) continue;
      if (!again.isWhole) {
        run.tell(...(await compareArchived(pool, seal, again.leaves, sight, await archived(seal.number))));
      }
      if (again.isWhole && !again.isTreeKept) run.tell(wrongTree(seal.number));
    }
    run.tell(...(await pool.run((sql) => findStrangeTimes(sql, next.flat(), before))));
    await run.holdNodes(pool);
    if (run.isInOrder()) await onPart?.(run.found());
  }
  run.tell(
    ...(await pool.run((sql) => findUnsealed(sql, run.last))),
    ...(await pool.run((sql) => findStrangeErasures(sql, sight))),
    ...(await pool.run((sql) => findStrangeStates(sql, sight))),
    ...(await findStrangeDeliveries(pool, from)),
    ...(await pool.run((sql) => findUnsigned(sql, since?.size ?? 0, keys))),
  );
  return run.end(pool);
}

/** What a run has come to. */
class Run {
  last: Seal | null = null;
  #tree = new GrowingTree();
  #seals = 0;
  #rows = 0;
  readonly #heads: readonly TreeHead[];
  readonly #findings: VerifyFinding[] = [];
  /** Of the log's tree, what is stored above its leaves and was not looked at yet: by level and index. */
  readonly #nodes = new Map<string, Buffer>();
  /** The newest head that the log grew out of; what came after it is in dispute where another head does not fit. */
  #common: CommonHead | null = null;

  constructor(heads: readonly TreeHead[]) {
    this.#heads = heads;
  }

  /** Goes on from a head, as far as an unfinished run has come. Returns when the last seal below the head was made. */
  async begin(pool: Pool, since: TreeHead | null, unfinished: Verification | null): Promise<Date | null> {
    const at = unfinished?.head ?? since;
    if (at === null) return null;
    const [last] = await pool.run((sql) => readSeals(sql, at.size - 1, 1));
    if (last === undefined) return null;
    this.#tree = await pool.run((sql) => GrowingTree.of(readLogHashes(sql), at.size));
    this.last = last;
    [this.#seals, this.#rows] = [unfinished?.seals ?? 0, unfinished?.rows ?? 0];
    this.tell(...(unfinished?.findings ?? []));
    await this.#hold(pool, at, last.end);
    if (since === null || at === since) return since && last.sealedAt;
    const [first] = await pool.run((sql) => readSeals(sql, since.size - 1, 1));
    return first?.sealedAt ?? null;
  }

  /** False where seals are missing: another run could not go on. */
  isInOrder(): boolean {
    return this.last?.number === this.#tree.size;
  }

  found(): Verification {
    return { seals: this.#seals, rows: this.#rows, head: this.#tree.head(), findings: this.#findings };
  }

  /** Holds the log, as far as it was read, against a head of the same size. */
  async #hold(pool: Pool, head: TreeHead, end: LogPoint): Promise<void> {
    const own = this.#tree.head();
    if (own?.root.equals(head.root)) this.#common = { head, end };
    else this.tell(await describeFork(pool, head, own, this.#common));
  }

  tell(...findings: readonly VerifyFinding[]): void {
    this.#findings.push(...findings);
  }

  async look(pool: Pool, seal: Seal, isRead: boolean): Promise<void> {
    const expected = (this.last?.number ?? 0) + 1;
    const from: LogPoint = this.last?.end ?? { epoch: 0, tx: 0 };
    if (seal.number !== expected) {
      this.tell(ofSeal('selo_ausente', expected, `the log goes on with seal ${seal.number}`));
    } else if (seal.from.epoch !== from.epoch || seal.from.tx !== from.tx) {
      this.tell(ofSeal('selo_alterado', seal.number, 'it does not begin where the seal before it ends'));
    }
    if (!isRead) this.tell(ofSeal('selo_alterado', seal.number, 'its span lies before that of another seal'));
    const leaf = leafHash(sealEntry(seal));
    if (!leaf.equals(seal.leaf)) this.tell(ofSeal('selo_alterado', seal.number, 'its own fields were changed'));
    for (const { size, root } of this.#tree.append(leaf)) {
      const level = Math.log2(size) / TILE_BITS;
      if (Number.isInteger(level)) this.#nodes.set(`${level}/${this.#tree.size / size - 1}`, root);
    }
    [this.last, this.#seals, this.#rows] = [seal, this.#seals + 1, this.#rows + seal.rows];
    for (const head of this.#heads.filter(({ size }) => size === seal.number)) await this.#hold(pool, head, seal.end);
  }

  async holdNodes(pool: Pool): Promise<void> {
    const stored = await pool.run((sql) => readNodes(sql, [...this.#nodes.keys()]));
    for (const [place, root] of this.#nodes) if (!stored.get(place)?.equals(root)) this.tell(wrongTree(null));
    this.#nodes.clear();
  }

  async end(pool: Pool): Promise<Verification> {
    const head = this.#tree.head();
    for (const lost of this.#heads.filter(({ size }) => size > (head?.size ?? 0))) {
      this.tell(await describeFork(pool, lost, head, this.#common));
    }
    return this.found();
  }
}

/** The hashes of the log's tree above its leaves, by level and index. */
async function readNodes(sql: Tx, places: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
  const nodes = await sql<{ place: string; hash: Buffer }[]>`
    select place, hash from unnest(${places as string[]}::text[]) place
    join seal_nodes on level = split_part(place, '/', 1)::int and index = split_part(place, '/', 2)::bigint`;
  return new Map(nodes.map(({ place, hash }) => [place, hash]));
}

/** Consecutive seals of one statement; a seal that spans two epochs is alone. */
function inChunks(seals: readonly Seal[]): Seal[][] {
  const chunks: Seal[][] = [];
  let rows = 0;
  for (const seal of seals) {
    const before = chunks.at(-1)?.at(-1);
    const follows = before !== undefined && before.end.epoch === seal.from.epoch && before.end.tx === seal.from.tx;
    const isOneEpoch = before?.from.epoch === seal.end.epoch;
    const isFull = (chunks.at(-1)?.length ?? 0) >= CHUNK_SEALS || rows + seal.rows > CHUNK_ROWS;
    if (follows && isOneEpoch && !isFull) chunks.at(-1)?.push(seal);
    else chunks.push([seal]);
    rows = (chunks.at(-1)?.length === 1 ? 0 : rows) + seal.rows;
  }
  return chunks;
}

interface HashedAgain {
  readonly leaves: Leaves;
  readonly isWhole: boolean;
  /** Proofs are made of what is kept beside the seal, so that must be right, too. */
  readonly isTreeKept: boolean;
}

/** What the rows that lie in the span of each of these seals hash to now. */
async function hashAgain(pool: Pool, seals: readonly Seal[], sight: Sight): Promise<HashedAgain[]> {
  const [first, last] = [seals[0], seals.at(-1)];
  if (first === undefined || last === undefined) return [];
  const span = within({ from: first.from, end: last.end });
  const collector = new LeafCollector(seals.length === 1 ? [Infinity] : seals.map(({ end }) => end.tx));
  const trees = await pool.run(async (sql) => {
    await readEntries(sql, span, sight, collector.add);
    return sql<{ number: number; leaves: Buffer; nodes: Buffer }[]>`
      select number::float8, sha256(leaves) as leaves, sha256(nodes) as nodes
      from seal_trees where number between ${first.number} and ${last.number}`;
  });
  const kept = new Map(trees.map((tree) => [tree.number, tree]));
  const found = collector.finish();
  return seals.map((seal, index): HashedAgain => {
    const leaves = found[index] as Leaves;
    const nodes = levelAbove(leaves.hashes);
    const tree = kept.get(seal.number);
    return {
      leaves,
      isWhole: leaves.rows === seal.rows && rootOf(nodes).equals(seal.root),
      isTreeKept: tree !== undefined && tree.leaves.equals(sha256(leaves.hashes)) && tree.nodes.equals(sha256(nodes)),
    };
  });
}
