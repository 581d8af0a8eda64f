import { copyRowIn } from '../../db/binary-copy.ts';
import type { Tx } from '../../db/pool.ts';
import {
  countOf,
  HASH_BYTES,
  leafHash,
  levelAbove,
  type ReadHashes,
  rangeRoot,
  rootOf,
  TILE,
  type TreeHead,
} from './tree/merkle.ts';
import type { LogPoint, Span } from './rows.ts';

export interface Seal extends Span {
  readonly number: number;
  readonly rows: number;
  /** The root of the tree of its rows. */
  readonly root: Buffer;
  /** Of what erasing would leave of its events (remains.ts); null if it has none. */
  readonly remains: Buffer | null;
  readonly sealedAt: Date;
  /** Its leaf in the log's tree, as it is stored. */
  readonly leaf: Buffer;
}

/** The lines whose hash is the seal's leaf in the log's tree. Number and span are in them, so a seal cannot be moved. */
export function sealEntry({ number, from, end, rows, root, remains, sealedAt }: Omit<Seal, 'leaf'>): Buffer {
  const span = [from.epoch, from.tx, end.epoch, end.tx].join(' ');
  const last = remains === null ? [] : [remains.toString('base64')];
  const lines = ['carteiro/selo/1', number, span, rows, root.toString('base64'), sealedAt.toISOString(), ...last, ''];
  return Buffer.from(lines.join('\n'));
}

interface Columns extends Omit<Seal, keyof Span> {
  readonly firstEpoch: number;
  readonly firstTx: number;
  readonly endEpoch: number;
  readonly endTx: number;
}

export async function readSeals(tx: Tx, after: number, limit: number): Promise<Seal[]> {
  const rows = await tx<Columns[]>`
    select ${columns(tx)} from seals where number > ${after} order by number limit ${limit}`;
  return rows.map(sealOf);
}

/** The newest seal; null when there is none. */
export async function readLastSeal(tx: Tx): Promise<Seal | null> {
  const [row] = await tx<Columns[]>`select ${columns(tx)} from seals order by number desc limit 1`;
  return row === undefined ? null : sealOf(row);
}

/** The seal whose span holds a point; null when none does yet. */
export async function findSeal(tx: Tx, { epoch, tx: at }: LogPoint): Promise<Seal | null> {
  // Before the first span there is none, and such a transaction may be no number of JavaScript's.
  if (epoch < 0 || at < 0) return null;
  const [row] = await tx<Columns[]>`
    select ${columns(tx)} from seals where (first_epoch, first_tx) <= (${epoch}, ${at})
    order by first_epoch desc, first_tx desc limit 1`;
  const seal = row === undefined ? null : sealOf(row);
  const isIn = seal !== null && (seal.end.epoch > epoch || (seal.end.epoch === epoch && seal.end.tx > at));
  return isIn ? seal : null;
}

function columns(tx: Tx) {
  return tx`number::float8, first_epoch as "firstEpoch", first_tx::float8 as "firstTx", end_epoch as "endEpoch",
            end_tx::float8 as "endTx", rows, root, remains, sealed_at as "sealedAt", leaf`;
}

function sealOf({ firstEpoch, firstTx, endEpoch, endTx, ...rest }: Columns): Seal {
  return { ...rest, from: { epoch: firstEpoch, tx: firstTx }, end: { epoch: endEpoch, tx: endTx } };
}

/** Kept beside a seal: its rows' leaves, and the level above them. */
export interface SealedTree {
  readonly leaves: Buffer;
  readonly nodes: Buffer;
}

/** Appends a seal behind `last`, with the tree of its rows and whatever part of the log's tree it completes. */
export async function appendSeal(
  tx: Tx,
  last: Seal | null,
  batch: Pick<Seal, 'end' | 'rows' | 'root' | 'remains' | 'sealedAt'>,
  tree: SealedTree,
): Promise<void> {
  const seal = { number: (last?.number ?? 0) + 1, from: last?.end ?? { epoch: 0, tx: 0 }, ...batch };
  const { number, from, end, rows, root, remains, sealedAt } = seal;
  const key = Buffer.alloc(8);
  key.writeBigInt64BE(BigInt(number));
  await copyRowIn(tx, 'seal_trees (number, leaves, nodes)', [key, tree.leaves, tree.nodes]);
  await tx`
    insert into seals (number, first_epoch, first_tx, end_epoch, end_tx, rows, root, remains, sealed_at, leaf)
    values (${number}, ${from.epoch}, ${from.tx}, ${end.epoch}, ${end.tx}, ${rows}, ${root}, ${remains}, ${sealedAt},
            ${leafHash(sealEntry(seal))})`;
  const read = readLogHashes(tx);
  for (let [level, span] = [1, TILE]; number % span === 0; [level, span] = [level + 1, span * TILE]) {
    const index = number / span - 1;
    const hash = rootOf(await read(level - 1, index * TILE, (index + 1) * TILE));
    await tx`insert into seal_nodes (level, index, hash) values (${level}, ${index}, ${hash})`;
  }
}

/** The hashes `from` to before `end` of a level of the log's tree, up to the first that is missing. */
export async function findLogHashes(tx: Tx, level: number, from: number, end: number): Promise<Buffer> {
  const [row] =
    level === 0
      ? await tx<[{ hashes: Buffer | null }]>`
          select string_agg(leaf, '' order by number) as hashes
          from (select leaf, number, row_number() over (order by number) as place
                from seals where number > ${from} and number <= ${end}) found
          where number = ${from}::bigint + place`
      : await tx<[{ hashes: Buffer | null }]>`
          select string_agg(hash, '' order by index) as hashes
          from (select hash, index, row_number() over (order by index) as place
                from seal_nodes where level = ${level} and index >= ${from} and index < ${end}) found
          where index = ${from}::bigint + place - 1`;
  return row.hashes ?? Buffer.alloc(0);
}

/** Hashes that were kept are missing: somebody removed them. */
class LackingHashes extends Error {
  override name = 'LackingHashes';
}

/** Null where somebody removed hashes: the proof then lacks the path, and does not pass. */
export async function unlessLacking<T>(way: Promise<T>): Promise<T | null> {
  try {
    return await way;
  } catch (error) {
    if (error instanceof LackingHashes) return null;
    throw error;
  }
}

/** The hashes of the log's tree. Each tile is read once: paths share them. Throws {@link LackingHashes}. */
export function readLogHashes(tx: Tx): ReadHashes {
  const tiles = new Map<string, Promise<Buffer>>();
  return async (level, from, end) => {
    const first = from - (from % TILE);
    const place = `${level}/${first}`;
    const tile = tiles.get(place) ?? findLogHashes(tx, level, first, first + TILE);
    tiles.set(place, tile);
    const found = (await tile).subarray((from - first) * HASH_BYTES, (end - first) * HASH_BYTES);
    if (countOf(found) === end - from) return found;
    throw new LackingHashes(`the log's tree lacks hashes of level ${level} from ${from} on`);
  };
}

/**
 * The hashes that paths from the leaves `from` to before `end` name, read at once: their tiles, the last tile, and the second
 * level, from which the third is computed. Throws {@link LackingHashes}.
 */
export async function readRowHashes(tx: Tx, { number, rows }: Seal, from: number, end: number): Promise<ReadHashes> {
  const [first, last] = [from - (from % TILE), rows - (rows % TILE)];
  const count = Math.min(Math.ceil(end / TILE) * TILE, rows) - first;
  const [found] = await tx<{ near: Buffer; edge: Buffer; nodes: Buffer }[]>`
    select substring(leaves from ${first * HASH_BYTES + 1} for ${count * HASH_BYTES}) as near,
           substring(leaves from ${last * HASH_BYTES + 1}) as edge, nodes
    from seal_trees where number = ${number}`;
  const read: ReadHashes = async (level, at, until) => {
    if (level > 1) return levelAbove(await read(1, at * TILE, until * TILE));
    const isNear = at >= first && until <= first + count;
    const [hashes, begins] = level === 1 ? [found?.nodes, 0] : isNear ? [found?.near, first] : [found?.edge, last];
    const slice = hashes?.subarray((at - begins) * HASH_BYTES, (until - begins) * HASH_BYTES);
    if (slice !== undefined && countOf(slice) === until - at) return slice;
    throw new LackingHashes(`the tree of seal ${number} lacks hashes of level ${level} from ${at} on`);
  };
  return read;
}

/** The tree of the first `size` seals; null when there is no seal. */
export async function readTreeHead(tx: Tx, size?: number): Promise<TreeHead | null> {
  const count = size ?? (await readLastSeal(tx))?.number ?? 0;
  return count === 0 ? null : { size: count, root: await rangeRoot(readLogHashes(tx), 0, count) };
}

export async function countSealedRows(tx: Tx): Promise<number> {
  const [row] = await tx<[{ rows: number }]>`select coalesce(sum(rows), 0)::float8 as rows from seals`;
  return row.rows;
}
