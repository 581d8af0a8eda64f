/**
 * By what readers of single rows find them: the order of a file's rows, the bounds of columns in its groups, and the manifest's line on the
 * file. If one of these were wrong, a row that is in the file, and gives its seal's root, would be hidden from them.
 */
import { placeOf } from '../../audit/lists/place.ts';
import { jsonOf } from '../../db/binary-record.ts';
import type { ArchivedFile } from '../manifest.ts';
import type { CellGroup } from '../read-table.ts';
import { columnsOfTable, KEYS, ORDER } from '../table-file.ts';
import type { Cells } from './cells.ts';

/** Throws RangeError where a file is not as its readers take it. */
export class FileOrder {
  #rows = 0;
  #ids: string[] = [];
  #times: string[] = [];
  /** The order's columns in the group before, and its last row. */
  #before: readonly Cells[] | null = null;
  #last = 0;

  /** Rows of a table that has no order. */
  count(rows: number): void {
    this.#rows += rows;
  }

  add({ table, oids, rows, cells, mayHave }: CellGroup): void {
    this.#rows += rows;
    const [key, order] = [KEYS[table] ?? '', ORDER[table] ?? []];
    const columns = order.map((name) => cells.get(name) as Cells);
    const types = order.map((name) => oids[columnsOfTable(table).indexOf(name)] ?? 0);
    const ids = cells.get(key) as Cells;
    let [before, last, least, most] = [this.#before ?? columns, this.#before === null ? 0 : this.#last, 0, 0];
    for (let row = 0; row < rows; row += 1) {
      for (let index = 0, isSame = true; isSame && index < columns.length; index += 1) {
        const compared = compare(types[index] ?? 0, before[index] as Cells, last, columns[index] as Cells, row);
        if (compared > 0) throw new RangeError('its rows are not in order');
        isSame = compared === 0;
      }
      [before, last] = [columns, row];
      if (compare(ID, ids, row, ids, least) < 0) least = row;
      if (compare(ID, ids, row, ids, most) > 0) most = row;
    }
    [this.#before, this.#last] = [columns, rows - 1];
    const found = [least, most].map((row) => ids.bytes.toString('hex', ids.starts[row], (ids.starts[row] ?? 0) + 16));
    this.#ids = [...this.#ids, ...found].toSorted();
    const isHidden = found.some((id) => !mayHave(key, id));
    const [recorded] = table === 'attempts' ? columns : [];
    const times = [0, rows - 1].flatMap((row) =>
      recorded === undefined ? [] : [jsonOf(1184, recorded.bytes.readBigInt64LE(recorded.starts[row])) as string],
    );
    this.#times.push(...times);
    if (isHidden || times.some((time) => !mayHave('recorded_at', placeOf([time]))))
      throw new RangeError('the bounds of a group hide its rows');
  }

  /** At its end. */
  compareWith({ linhas, de, ate, registradas: times }: ArchivedFile): void {
    const found = [this.#rows, this.#ids[0] ?? '', this.#ids.at(-1) ?? '', this.#times[0], this.#times.at(-1)];
    const told = [linhas, de, ate, times.de ?? undefined, times.ate ?? undefined];
    if (told.some((one, index) => one !== found[index]))
      throw new RangeError('the manifest has other rows, ids or times of it');
  }
}

const ID = 2950;

/** Below 0: `one` comes first. Of the types that an order has; no value is null. */
function compare(oid: number, one: Cells, row: number, other: Cells, at: number): number {
  const [from, to] = [one.starts[row] as number, other.starts[at] as number];
  if (oid === ID) return one.bytes.compare(other.bytes, to, to + 16, from, from + 16);
  if (oid === 16) return (one.bytes[from] as number) - (other.bytes[to] as number);
  if (oid === 23) return one.bytes.readInt32LE(from) - other.bytes.readInt32LE(to);
  const high = one.bytes.readInt32LE(from + 4) - other.bytes.readInt32LE(to + 4);
  return high === 0 ? one.bytes.readUInt32LE(from) - other.bytes.readUInt32LE(to) : high;
}
