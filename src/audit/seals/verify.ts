/**
 * The check of the whole log: each sealed row is hashed again, each seal is compared with its rows and its place, and the log's
 * tree with each signed checkpoint. It goes on after a finding, and names the row if the seal's own tree still fits.
 * The log alone cannot show that all of it was made anew, or that its end was cut off. A head that was kept elsewhere shows both.
 */
import type { Installation } from '../../db/installation.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import type { SourceName } from '../../db/sealed-rows.ts';
import type { Verifier } from '../checkpoint/note.ts';
import { findUnsigned } from '../checkpoint/stored.ts';
import { findUnexpectedErasures, findUnexpectedRemains } from './erased.ts';
import { findUnexpectedDeliveries, findUnexpectedStates } from './state.ts';
import { countRows, findOutside, findUnread, findUnsealed } from './unsealed.ts';
import { type CommonHead, describeFork } from './fork.ts';
import { type ArchivedSeals, compareArchived, NO_ARCHIVE } from './archived-leaves.ts';
import { ofSeal, type VerifyFinding, wrongTree } from './compare-rows.ts';
import { GrowingTree } from './tree/growing-tree.ts';
import { hashSealsAgain } from './hash-again.ts';
import { leafHash, type TreeHead } from './tree/merkle.ts';
import { findUnexpectedDefinitions, findUnexpectedTables } from './tables.ts';
import { type LogPoint, type Sight, sightOf } from './rows.ts';
import { readLastSeal, readLogHashes, readSeals, type Seal, sealEntry } from './seal-log.ts';

const TILE_BITS = 8;

export interface Verification {
  readonly seals: number;
  readonly rows: number;
  /** The log's head as it was computed; null when there is no seal. */
  readonly head: TreeHead | null;
  readonly findings: readonly VerifyFinding[];
  /** What of the database's definitions could not be compared with the release's, and why; null if all was. */
  readonly uncompared: string | null;
}

export interface VerifyOptions {
  readonly heads?: readonly TreeHead[];
  /** The head that an earlier verdict ended at: rows that it covers are not read again. */
  readonly since?: TreeHead | null;
  /** Whom stored checkpoints must be signed by; none are looked at without. */
  readonly keys?: readonly Verifier[];
  /** Whose objects are compared with the release's own; none are without. */
  readonly installation?: Installation;
  /** Where they are compared, when the log is read on a standby. */
  readonly primary?: Pool;
  /** Where a run was cut short that this one goes on with. */
  readonly unfinished?: Verification | null;
  /** It is closed at the end. */
  readonly archived?: ArchivedSeals;
  /** Hears how far the run has come, so that another can go on with it. */
  readonly onPart?: (found: Verification) => Promise<void> | void;
}

export async function verifySeals(pool: Pool, options: VerifyOptions = {}): Promise<Verification> {
  try {
    return await verifyAll(pool, options);
  } finally {
    await options.archived?.close();
  }
}

async function verifyAll(pool: Pool, options: VerifyOptions): Promise<Verification> {
  const { heads = [], since = null, unfinished = null, onPart, archived = NO_ARCHIVE } = options;
  const signed = await pool.run((sql) => sql<TreeHead[]>`select size::float8, root from checkpoints order by size`);
  const run = new Run([...signed, ...heads, ...(since === null ? [] : [since])]);
  const sight = await pool.run(sightOf);
  const from = await run.begin(pool, since, unfinished);
  // A run that goes on from elsewhere has not read the rows below.
  const whole = run.last === null ? await pool.run(readLastSeal) : null;
  const before = whole && (await countRows(pool, whole.end));
  const read = new Map<SourceName, number>();
  run.report(...(await pool.run(findUnexpectedTables)));
  const beside = findBeside(pool, from, sight, options);
  // It is awaited behind the rows; until then a rejection must not count as unhandled.
  beside.catch(() => undefined);
  for await (const { seals, counts, unexpectedTimes } of hashSealsAgain(pool, run.last, sight, whole)) {
    for (const [table, rows] of counts) read.set(table, (read.get(table) ?? 0) + rows);
    for (const { seal, leaves, isWhole, isTreeKept } of seals) {
      await run.look(pool, seal);
      if (!isWhole)
        run.report(...(await compareArchived(pool, seal, leaves, sight, await archived.leaves(seal.number))));
      else if (!isTreeKept) run.report(wrongTree(seal.number));
    }
    run.report(...unexpectedTimes);
    await run.holdNodes(pool);
    if (run.isInOrder()) await onPart?.(run.found());
  }
  const { findings, uncompared } = await beside;
  run.uncompared = uncompared;
  run.report(...(await pool.run((sql) => findUnsealed(sql, run.last))), ...(await pool.run(findOutside)), ...findings);
  if (whole !== null && before !== null) run.report(...findUnread(before, await countRows(pool, whole.end), read));
  return run.end(pool);
}

/** Checks what no seal covers, on one connection, while the others hash. `from`: when the head was made at which the run begins. */
async function findBeside(
  pool: Pool,
  from: Date | null,
  sight: Sight,
  { since, keys = [], installation, primary = pool, archived = NO_ARCHIVE }: VerifyOptions,
): Promise<Pick<Verification, 'findings' | 'uncompared'>> {
  const definitions = installation === undefined ? null : await findUnexpectedDefinitions(primary, installation);
  const findings = [
    ...(definitions?.findings ?? []),
    ...(await pool.run((sql) => findUnexpectedErasures(sql, sight))),
    ...(await findUnexpectedRemains(pool, sight, archived)),
    ...(await pool.run((sql) => findUnexpectedStates(sql, sight))),
    ...(await findUnexpectedDeliveries(pool, from)),
    ...(await pool.run((sql) => findUnsigned(sql, since?.size ?? 0, keys))),
  ];
  return { findings, uncompared: definitions?.uncompared ?? null };
}

class Run {
  last: Seal | null = null;
  uncompared: string | null = null;
  #tree = new GrowingTree();
  #seals = 0;
  #rows = 0;
  readonly #heads: readonly TreeHead[];
  readonly #findings: VerifyFinding[] = [];
  /** Nodes of the log's tree by level and index, as computed; they are still to be compared with the stored ones. */
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
    this.report(...(unfinished?.findings ?? []));
    await this.#hold(pool, [at], last.end);
    if (since === null || at === since) return since && last.sealedAt;
    const [first] = await pool.run((sql) => readSeals(sql, since.size - 1, 1));
    return first?.sealedAt ?? null;
  }

  /** False if seals are missing: another run could not go on. */
  isInOrder(): boolean {
    return this.last?.number === this.#tree.size;
  }

  found(): Verification {
    return {
      seals: this.#seals,
      rows: this.#rows,
      head: this.#tree.head(),
      findings: this.#findings,
      uncompared: this.uncompared,
    };
  }

  /** Holds the log, as far as it was read, against heads of the same size. Where one differs, no other of them is common to both. */
  async #hold(pool: Pool, heads: readonly TreeHead[], end: LogPoint): Promise<void> {
    const own = this.#tree.head();
    const { same = [], other = [] } = Object.groupBy(heads, ({ root }) => (own?.root.equals(root) ? 'same' : 'other'));
    for (const head of other) this.report(await describeFork(pool, head, own, this.#common));
    for (const head of same) this.#common = { head, end };
  }

  report(...findings: readonly VerifyFinding[]): void {
    this.#findings.push(...findings);
  }

  async look(pool: Pool, seal: Seal): Promise<void> {
    const expected = (this.last?.number ?? 0) + 1;
    const from: LogPoint = this.last?.end ?? { epoch: 0, tx: 0 };
    if (seal.number !== expected) {
      this.report(ofSeal('selo_ausente', expected, `the log goes on with seal ${seal.number}`));
    } else if (seal.from.epoch !== from.epoch || seal.from.tx !== from.tx) {
      this.report(ofSeal('selo_alterado', seal.number, 'it does not begin where the seal before it ends'));
    }
    const leaf = leafHash(sealEntry(seal));
    if (!leaf.equals(seal.leaf)) this.report(ofSeal('selo_alterado', seal.number, 'its own fields were changed'));
    for (const { size, root } of this.#tree.append(leaf)) {
      const level = Math.log2(size) / TILE_BITS;
      if (Number.isInteger(level)) this.#nodes.set(`${level}/${this.#tree.size / size - 1}`, root);
    }
    [this.last, this.#seals, this.#rows] = [seal, this.#seals + 1, this.#rows + seal.rows];
    const heads = this.#heads.filter(({ size }) => size === seal.number);
    await this.#hold(pool, heads, seal.end);
  }

  async holdNodes(pool: Pool): Promise<void> {
    const stored = await pool.run((sql) => readNodes(sql, [...this.#nodes.keys()]));
    for (const [place, root] of this.#nodes) if (!stored.get(place)?.equals(root)) this.report(wrongTree(null));
    this.#nodes.clear();
  }

  async end(pool: Pool): Promise<Verification> {
    const head = this.#tree.head();
    for (const lost of this.#heads.filter(({ size }) => size > (head?.size ?? 0))) {
      this.report(await describeFork(pool, lost, head, this.#common));
    }
    return this.found();
  }
}

/** The hashes of the log's tree above its leaves, by level and index. */
async function readNodes(sql: Tx, places: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
  const nodes = await sql<{ place: string; hash: Buffer }[]>`
    select place, hash from pg_catalog.unnest(${places as string[]}::text[]) place
    join seal_nodes on level = split_part(place, '/', 1)::int and index = split_part(place, '/', 2)::bigint`;
  return new Map(nodes.map(({ place, hash }) => [place, hash]));
}
