/**
 * Rows in COPY's binary form, in pieces: as a column or parameter each byte would be two digits, and all would be in memory at once.
 * Two habits of the driver: it leaves the socket paused if the last chunk filled the stream, and then hears no further answer; and it
 * reports no error after the last piece that it sends, so the next statement of the transaction fails instead.
 */
import { finished } from 'node:stream/promises';
import type { Tx } from './sql.ts';

/** COPY's header: signature, no flags, no extension. */
const HEADER = Buffer.from('PGCOPY\n\u00ff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** COPY's trailer: a field count of -1. */
const END = Buffer.of(0xff, 0xff);
const NOTHING = Buffer.alloc(0);
/** Bytes before a row's one field: field count and length. */
const FIELD = 6;
/** Bytes sent at once. Two pieces take a millisecond to hash; then the event loop runs. */
const PIECE = 65_536;

/** Calls back with each row's one field: `bytes` from `at` to `end`. */
export async function copyOut(
  tx: Tx,
  query: string,
  onField: (bytes: Buffer, at: number, end: number) => void,
): Promise<void> {
  const copied = await tx.unsafe(`copy (${query}) to stdout (format binary)`).readable();
  let rest: Buffer = NOTHING;
  let [isBegun, heard] = [false, 0];
  const take = (part: Buffer) => {
    const bytes = rest.length === 0 ? part : Buffer.concat([rest, part]);
    // Nothing is read before the header is complete: its first two bytes are no field count.
    let at = !isBegun && bytes.length >= HEADER.length ? HEADER.length : 0;
    isBegun ||= at > 0;
    while (at + FIELD <= bytes.length && bytes.readInt16BE(at) === 1) {
      const end = at + FIELD + bytes.readInt32BE(at + 2);
      if (end > bytes.length) break;
      onField(bytes, at + FIELD, end);
      at = end;
    }
    rest = at === bytes.length ? NOTHING : bytes.subarray(at);
  };
  const goOn = () => {
    heard = 0;
    copied.resume();
  };
  copied.on('data', (part: Buffer) => {
    if (heard === 0) setImmediate(goOn);
    heard += part.length;
    if (heard >= 2 * PIECE) copied.pause();
    try {
      take(part);
    } catch (error) {
      copied.destroy(error as Error);
    }
  });
  await finished(copied);
  // oxlint-disable-next-line no-underscore-dangle -- the stream's name for it
  copied._read(0);
  if (!rest.equals(END)) throw new Error('the copy of the rows ended before its end');
}

/** Adds one row to `table (column, …)`, its fields in binary form. If it fails, the next statement fails. */
export async function copyRowIn(tx: Tx, table: string, fields: readonly Buffer[]): Promise<void> {
  const copied = await tx.unsafe(`copy ${table} from stdin (format binary)`).writable();
  // The failed write rejects below, or the next statement fails. An unhandled error event would end the process.
  copied.on('error', () => undefined);
  for (const piece of piecesOf(fields)) {
    await new Promise<void>((resolve, reject) => {
      copied.write(piece, (error) => (error ? reject(error) : resolve()));
    });
  }
  copied.end();
}

function* piecesOf(fields: readonly Buffer[]): Generator<Buffer> {
  const count = Buffer.alloc(2);
  count.writeInt16BE(fields.length);
  yield Buffer.concat([HEADER, count]);
  for (const field of fields) {
    const length = Buffer.alloc(4);
    length.writeInt32BE(field.length);
    yield length;
    for (let at = 0; at < field.length; at += PIECE) yield field.subarray(at, at + PIECE);
  }
  yield END;
}
