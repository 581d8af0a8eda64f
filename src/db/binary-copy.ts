/**
 * Rows as the server copies them in binary, in pieces: as a result's column or a parameter each byte would be two digits, and all of
 * them would lie in memory at once, some of them thrice.
 *
 * Two habits of the driver. It leaves the socket paused if the last chunk filled the stream, and the connection would hear no answer
 * any more. And it tells nobody of an error behind the last piece that it sends: the next statement of the transaction fails.
 */
import { finished } from 'node:stream/promises';
import type { Tx } from './sql.ts';

/** Before the rows: the signature, no flags, and no more of a header. */
const HEADER = Buffer.from('PGCOPY\n\u00ff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** Behind the last row: -1 as the count of its fields. */
const END = Buffer.of(0xff, 0xff);
const NOTHING = Buffer.alloc(0);
/** Before the one field of a row: the count of fields, and its length. */
const FIELD = 6;
/** Bytes that are sent at once. When two of them were heard, which take a millisecond to hash, the event loop has its turn. */
const PIECE = 65_536;

/** Hears the one field of each row of a query: it lies from `at` to `end` in `bytes`. */
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
    // Until the header is there, nothing is read: its first two bytes are no count of fields.
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

/** Adds one row to `table (column, …)`, its fields in the server's binary form. The next statement fails where it could not. */
export async function copyRowIn(tx: Tx, table: string, fields: readonly Buffer[]): Promise<void> {
  const copied = await tx.unsafe(`copy ${table} from stdin (format binary)`).writable();
  // The failed write rejects below, or the next statement fails. An event that nobody hears would end the process.
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
