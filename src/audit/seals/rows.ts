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

/** Before the rows of a binary COPY, and before the one field of a row: the count of fields, and its length. */
const HEADER = Buffer.from('PGCOPY\n\u00ff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const FIELD = 6;

/**
 * Reads the entries of all rows `t` that `rows` selects, or of `limit` of them, framed unless `as` is given, in any order.
 * They come as a binary COPY: as a result's column each byte would be written and read as two digits, which took half of the time.
 * Hashing a million rows again takes 10.3 s of CPU, 6.8 the server's, and 5.5 s of two cores: both are always at work. We tried the
 * bare columns, with commitment and entry made here: 3.7 s for the server and 7.8 for Node. Data events in place of the iterator,
 * and two chunks at once in place of three, changed nothing.
 */
export async function readEntries(
  tx: Tx,
  rows: string,
  sight: Sight,
  onEntry: (bytes: Buffer, at: number, end: number) => void,
  { as = framedOf, limit = null }: { as?: typeof framedOf; limit?: number | null } = {},
): Promise<void> {
  const parts = SOURCE_NAMES.map((source) => {
    const { entry, from } = as(source, sight);
    return `select ${entry} as entry from ${from} where ${rows}`;
  });
  const copied = await tx
    .unsafe(`copy (${parts.join(' union all ')} ${limit === null ? '' : `limit ${limit}`}) to stdout (format binary)`)
    .readable();
  let rest: Buffer = Buffer.alloc(0);
  let isBegun: boolean = false;
  for await (const part of copied as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? part : Buffer.concat([rest, part]);
    // Until the header is there, nothing is read: its first two bytes are no count of fields.
    let at: number = !isBegun && bytes.length >= HEADER.length ? HEADER.length : 0;
    isBegun ||= at > 0;
    while (at + FIELD <= bytes.length && bytes.readInt16BE(at) === 1) {
      const end = at + FIELD + bytes.readInt32BE(at + 2);
      if (end > bytes.length) break;
      onEntry(bytes, at + FIELD, end);
      at = end;
    }
    rest = bytes.subarray(at);
  }
  // The driver pauses its socket when the stream is full, and resumes it when more is asked for. Nothing more is asked for at the end:
  // paused by the last piece, the connection would hear no answer any more (one of 36 turns of the sealer, on a busy machine).
  // oxlint-disable-next-line no-underscore-dangle -- the stream's name for it
  copied._read(0);
  // Behind the last row stands -1 as the count of its fields.
  if (!rest.equals(Buffer.of(0xff, 0xff))) throw new Error('the copy of the rows ended before its end');
}
