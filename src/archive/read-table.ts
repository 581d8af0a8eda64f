/** Rows of a file, as Parquet has them: all, those of one key, or those between two places in the file's order. */
import { hexOf, jsonOf, type Row } from '../db/binary-record.ts';
import type { AsyncBuffer } from 'hyparquet';
import { placeOf } from '../audit/lists/place.ts';
import type { Range } from '../audit/lists/kind.ts';
import type { Cells } from './hashing/cells.ts';
import { type Group, openFile } from './parquet/open-file.ts';
import { columnsOfTable, KEYS, ORDER, type TableName } from './table-file.ts';

/** All rows, a group at a time (a file of a hundred thousand takes 300 MiB at once); with `columns`, only these. */
export async function* readGroups(file: AsyncBuffer, columns?: string[]) {
  const open = await openFile(file);
  const { table, oids, groups } = open;
  for (const { start, end } of groups)
    yield { table, oids, rows: await open.read({ rowStart: start, rowEnd: end, ...(columns && { columns }) }) };
}

export interface CellGroup {
  readonly table: TableName;
  readonly oids: readonly number[];
  readonly rows: number;
  readonly cells: ReadonlyMap<string, Cells>;
  /** Whether readers look for this value of a column in the group; as a text of {@link placeOf}. */
  readonly mayHave: (column: string, value: string) => boolean;
}

/** All rows as bytes, if the file's table `isOne`; those of another table unchanged. */
export async function* readCells(
  file: ArrayBuffer,
  isOne: (table: TableName) => boolean,
): AsyncGenerator<CellGroup | { table: TableName; oids: readonly number[]; rows: Row[]; cells?: never }> {
  const open = await openFile(file);
  const { table, oids, groups } = open;
  for (const group of groups) {
    const { start, end } = group;
    const mayHaveIt = (column: string, value: string) => mayHave(group, column, value, value);
    if (isOne(table)) yield { table, oids, rows: end - start, cells: open.cells(file, group), mayHave: mayHaveIt };
    else yield { table, oids, rows: await open.read({ rowStart: start, rowEnd: end }) };
  }
}

/** All rows, or these `columns`; with `keys` (hexadecimal) those whose key is one of them or, if all are equally short, begins with one. */
export async function readRows(
  file: AsyncBuffer,
  { keys, columns }: { readonly keys?: ReadonlySet<string>; readonly columns?: string[] } = {},
) {
  const open = await openFile(file);
  const { table, oids, groups } = open;
  const column = KEYS[table];
  if (keys === undefined || column === undefined)
    return { table, oids, rows: await open.read({ ...(columns && { columns }) }) };
  const rows: Row[] = [];
  const [{ length } = ''] = keys;
  const isOne = (row: Row) => keys.has(hexOf(row[column]).slice(0, length));
  for (const group of groups) {
    if (keys.values().some((key) => mayHave(group, column, key, key.padEnd(32, 'f'))))
      rows.push(...(await open.chosen(group, [column], (all) => indicesOf(all, isOne))));
  }
  return { table, oids, rows };
}

/** Up to `most` rows between two places whose columns have these values, from the end that is asked for; in the file's order. */
export async function readBetween(file: AsyncBuffer, { from, below, isNewestFirst, most, having }: Range) {
  const open = await openFile(file);
  const { table, oids, groups } = open;
  const order = [...(ORDER[table] ?? [])];
  const has = (row: Row) =>
    Object.entries(having).every(([name, value]) => value.split(',').some((one) => textOf(row[name]) === one));
  const choose = (all: Row[], wanted: number) => {
    const [start, end] = [from, below].map((bound) => firstAt(all, (row) => placeOfRow(table, oids, row) >= bound));
    const found = indicesOf(all, has, start, end);
    if (found.length <= wanted) return found;
    return isNewestFirst ? found.slice(-wanted) : found.slice(0, wanted);
  };
  let rows: Row[] = [];
  for (const group of isNewestFirst ? groups.toReversed() : groups) {
    if (rows.length >= most) break;
    if (!mayHave(group, order[0] ?? '', from, below)) continue;
    const columns = [...new Set([...order, ...Object.keys(having)])];
    const found = await open.chosen(group, columns, (all) => choose(all, most - rows.length));
    rows = isNewestFirst ? [...found, ...rows] : [...rows, ...found];
  }
  return { table, oids, rows };
}

/** The index of the first row that is so, where all rows behind one that is so are so too. */
function firstAt(rows: readonly Row[], isSo: (row: Row) => boolean): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isSo(rows[middle] as Row)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function indicesOf(rows: readonly Row[], fits: (row: Row) => boolean, start = 0, end = rows.length): number[] {
  const found: number[] = [];
  for (let index = start; index < end; index += 1) if (fits(rows[index] as Row)) found.push(index);
  return found;
}

/** False where no value of the group's column lies from one on and not behind another, as texts of {@link placeOf}. */
function mayHave({ columns }: Group, name: string, from: string, to: string): boolean {
  const { min_value: min, max_value: max } =
    columns.find(({ meta_data: data }) => data?.path_in_schema[0] === name)?.meta_data?.statistics ?? {};
  if (min === undefined || max === undefined) return true;
  const [least, most] = [min, max].map((value) =>
    placeOf([value instanceof Date ? value.toISOString() : String(value)]),
  ) as [string, string];
  return least <= to && most >= from.slice(0, most.length);
}

/** Where a row, of its file or as {@link jsonRow} has it, lies in the file's order. */
export function placeOfRow(table: TableName, oids: readonly number[], row: Row): string {
  const names = columnsOfTable(table);
  const isRaw = row[KEYS[table] ?? ''] instanceof Uint8Array;
  return placeOf(
    (ORDER[table] ?? []).map((name) => String(isRaw ? jsonOf(oids[names.indexOf(name)] ?? 0, row[name]) : row[name])),
  );
}

const textOf = (value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value);

/** A row as `json_populate_record` reads it. */
export function jsonRow(table: TableName, oids: readonly number[], row: Row): Row {
  return Object.fromEntries(columnsOfTable(table).map((name, index) => [name, jsonOf(oids[index] ?? 0, row[name])]));
}
