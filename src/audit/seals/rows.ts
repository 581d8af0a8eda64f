/** The entries of rows, as they are read to be hashed. */
import type { Tx } from '../../db/pool.ts';
import { entryOf, SOURCE_NAMES, type SourceName } from '../../db/sealed-rows.ts';

/** A point in the log: transactions count within their epoch. */
export interface LogPoint {
  readonly epoch: number;
  readonly tx: number;
}

export interface Span {
  readonly from: LogPoint;
  /** Not included. */
  readonly end: LogPoint;
}

/** Which rows `t` lie in a span; the index knows `tx` as a number. */
export function within({ from, end }: Span, t = 't'): string {
  const tx = `xid8send(${t}.tx)::bigint`;
  const starts = `${t}.epoch = ${from.epoch} and ${tx} >= ${from.tx}`;
  const ends = `${t}.epoch = ${end.epoch} and ${tx} < ${end.tx}`;
  if (from.epoch === end.epoch) return `${starts} and ${tx} < ${end.tx}`;
  return `(${starts} or ${t}.epoch > ${from.epoch} and ${t}.epoch < ${end.epoch} or ${ends})`;
}

/** Whether this login may read what was sealed, or only what is left of it once CPFs are masked. */
export type Sight = 'whole' | 'masked';

export async function sightOf(tx: Tx): Promise<Sight> {
  const [{ sight }] = await tx<[{ sight: Sight }]>`
    select case when has_column_privilege('events', 'data', 'select') and has_column_privilege('attempts', 'answer', 'select')
                then 'whole' else 'masked' end as sight`;
  return sight;
}

/** The entry of each row `t` behind its frame, and where from. */
export function framedOf(source: SourceName, sight: Sight): { entry: string; from: string } {
  return sight === 'whole'
    ? { entry: `'\\x00'::bytea || ${entryOf(source)}`, from: `${source} t` }
    : { entry: 't.entry', from: `${source}_as_sealed t` };
}

/** Entries in one piece: cheaper than a row for each, and short enough for the server and the driver. */
const IN_PIECE = 256;
const PIECES_AT_ONCE = 32;

/** Reads the entries of all rows `t` that `rows` selects, framed unless `as` is given, in any order: pieces of some, one behind the other. */
export async function readEntries(
  tx: Tx,
  rows: string,
  sight: Sight,
  onPiece: (bytes: Buffer) => void,
  as: typeof framedOf = framedOf,
): Promise<void> {
  const parts = SOURCE_NAMES.map((source) => {
    const { entry, from } = as(source, sight);
    return `select ${entry} as entry from ${from} where ${rows}`;
  });
  const query = tx.unsafe<{ piece: Buffer }[]>(
    `select string_agg(entry, '') as piece
     from (select entry, (row_number() over () - 1) / ${IN_PIECE} as number from (${parts.join(' union all ')}) found) numbered
     group by number`,
  );
  for await (const pieces of query.cursor(PIECES_AT_ONCE)) for (const { piece } of pieces) onPiece(piece);
}
