/**
 * The auditors' lists and exports, over all partners: a table of kinds (kinds.ts) and one search.
 *
 * A page costs a bounded amount of work. A filter that names few rows is looked up by an index; every other search walks the order
 * of the key, or an index that the kind names, reads at most {@link SCANNED} rows a page, and keeps those that fit. So a page may
 * be short or empty and still name where to continue. Measured: test/audit/attempts-plans.db.test.ts. Alternative: an index for
 * each pair of filters, which every delivery would pay for.
 */
import { z } from 'zod';
import { unmasked } from '../../db/auditors-views.ts';
import { firstIdAt } from '../../db/first-id.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import type { Fragment } from '../../db/sql.ts';
import { masked } from '../../contract/masking/masking.ts';
import { type ArchivedDelivery, type DeliveryRows, rowsOf } from '../../delivery/partner/delivery-rows.ts';
import { columnsOf, type Cut, type Filters, KEY_TYPES, type KeyType, type Kind, type Walk } from './kind.ts';

/** Rows that one page reads at most, where no index answers the filters by itself. */
const SCANNED = 500;

type Value = string | number | boolean | null;
export type Row = Readonly<Record<string, Value | readonly string[]>>;

export interface Search {
  readonly filters: Filters;
  /** By the first column of the key: at or after, and before. */
  readonly from: Date | null;
  readonly until: Date | null;
}

export interface Page extends Search {
  /** The key of the last row before the page. */
  readonly after: readonly string[] | null;
  readonly limit: number;
  readonly order: 'newest first' | 'oldest first';
  /** Only rows below the end of an export; null: every visible row. */
  readonly cut: Cut | null;
}

export interface Found {
  readonly rows: readonly Row[];
  readonly next: readonly string[] | null;
  /** How many rows were looked at, at most. */
  readonly budget: number;
}

/** One page of the rows that fit, `archived` ones among them; CPFs are masked unless `seesCpf`. */
export async function readPage(
  pool: Pool,
  kind: Kind,
  page: Page,
  seesCpf: boolean,
  archived: ArchivedDelivery | null = null,
): Promise<Found> {
  const { limit } = page;
  return pool.run(async (sql) => {
    const { query, budget } = search(sql, kind, page, rowsOf(sql, archived));
    const found = await query;
    const fitting = found.filter(({ is_last: isLast }) => isLast === false);
    const last =
      fitting.length > limit ? fitting[limit - 1] : found.find((row) => row['is_last'] && row['scanned'] === budget);
    return {
      rows: fitting.slice(0, limit).map((row) => shown(kind, row, !seesCpf)),
      next: last === undefined ? null : keyOf(kind, last),
      budget,
    };
  });
}

type Raw = Record<string, unknown>;

/** The rows that fit, one more than asked for at most, and the last row that was looked at, each with its columns. */
function search(sql: Tx, kind: Kind, page: Page, rows: DeliveryRows): { query: Promise<Raw[]>; budget: number } {
  const { filters, limit } = page;
  const source = sourceOf(sql, kind, rows);
  const few = Object.keys(kind.few ?? {}).find((column) => column in filters);
  const walk = few === undefined ? kind.walk?.(sql, filters) : undefined;
  const kept = Object.entries(filters).filter(
    ([column]) => column !== walk?.answers && (kind.few?.[column] ?? null) === null,
  );
  const conditions = kept.map(([column, value]) => {
    const fit = kind.fits?.[column];
    return fit === undefined ? sql`and v.${sql(column)} = ${value}` : sql`and ${fit(sql, value)}`;
  });
  const fits = sql`true ${one(sql, conditions)}`;
  const budget = kept.length === 0 || few !== undefined ? limit + 1 : Math.max(SCANNED, limit + 1);
  const key = Object.keys(kind.key);
  const [down, up] = page.order === 'newest first' ? ['desc', 'asc'] : ['asc', 'desc'];
  // A time does not identify a row, and the planner would use its index for the few rows of a page.
  const own = Object.keys(kind.key).filter((column) => kind.key[column] !== 'timestamptz');
  const named = (columns: readonly string[], direction = '') =>
    sql.unsafe(columns.map((column) => `"${column}" ${direction}`).join(', '));
  const query = sql<Raw[]>`
    with scanned as materialized (
      select ${named(key)}, ${few === undefined ? fits : sql`true`} as fits
      from (${source}) v
      where ${bounds(sql, kind, page, walk)} ${few === undefined ? sql`` : sql`and ${fits} ${candidates(sql, kind, filters, rows)}`}
      order by ${named(walk === undefined ? key : [walk.column, ...key], down)}
      limit ${budget}
    ),
    found as materialized (
      (select *, false as is_last from scanned where fits order by ${named(key, down)} limit ${limit + 1})
      union all
      (select *, true from scanned order by ${named(key, up)} limit 1)
    )
    select f.is_last, (select count(*)::int from scanned) as scanned, v.*
    from found f
    cross join lateral (
      select * from (${source}) v
      where (${named(own)}) = (${named(own.map((column) => `f"."${column}`))})
      limit 1
    ) v
    order by is_last, ${named(key, down)}`;
  return { query, budget };
}

/** The rows by the names of the view, unmasked. */
function sourceOf(sql: Tx, { view, removed }: Kind, rows: DeliveryRows): Fragment {
  const [head = '', tail] = unmasked(view);
  return tail === undefined || removed === undefined
    ? sql.unsafe(head)
    : sql`${sql.unsafe(head)} ${rows[removed.table]} ${sql.unsafe(tail)}`;
}

function candidates(sql: Tx, { few = {} }: Kind, filters: Filters, rows: DeliveryRows): Fragment {
  const found = Object.entries(few).map(([column, find]) => {
    const value = filters[column];
    return value === undefined || find === null ? sql`` : sql`and ${find(sql, value, rows)}`;
  });
  return one(sql, found);
}

function one(sql: Tx, parts: readonly Fragment[]): Fragment {
  return parts.reduce((before, part) => sql`${before} ${part}`, sql``);
}

/**
 * The rows to walk: within the period, behind the cursor.
 *
 * One row comparison bounds each end: with an equality and a time, the planner took the index of time alone and filtered millions
 * (5 s). The walk's value is a subquery: with a plain value it estimated a partner of half of all attempts at one row, and sorted.
 */
function bounds(sql: Tx, kind: Kind, { from, until, after, order, cut }: Page, walk: Walk | undefined) {
  const types = Object.entries(kind.key);
  const [[first, type]] = types as [[string, KeyType]];
  const [least, most] = KEY_TYPES[type];
  const at = (moment: Date) => (type === 'uuid' ? firstIdAt(moment) : moment.toISOString());
  const [column, value] = walk === undefined ? [sql``, sql``] : [sql`v.${sql(walk.column)},`, sql`${walk.value},`];
  const isDown = order === 'newest first';
  const cast = (given: string, to: KeyType) => sql`${given}::text::${sql.unsafe(to)}`;
  // A cursor lies within the period, so it replaces the bound at its end.
  const atLeast =
    (after !== null && !isDown) || (from === null && walk === undefined)
      ? sql``
      : sql`and (${column} v.${sql(first)}) >= (${value} ${cast(from === null ? least : at(from), type)})`;
  const below =
    (after !== null && isDown) || (until === null && walk === undefined)
      ? sql``
      : sql`and (${column} v.${sql(first)}) < (${value} ${cast(until === null ? most : at(until), type)})`;
  const place = types.map(([, to], index) => sql`${index === 0 ? sql`` : sql`,`} ${cast(after?.[index] ?? '', to)}`);
  const behind = sql`
    and (${column} ${sql.unsafe(types.map(([name]) => `v."${name}"`).join(', '))}) ${isDown ? sql`<` : sql`>`}
        (${value} ${one(sql, place)})`;
  return sql`true ${walk?.where ?? sql``} ${atLeast} ${below} ${after === null ? sql`` : behind}
    ${cut === null || kind.cut === undefined ? sql`` : sql`and ${kind.cut.within(sql, cut)}`}`;
}

/** A value as the wire has it. A time that is none of our era with four digits is null. */
function plain(value: unknown): Value | readonly string[] {
  if (Buffer.isBuffer(value)) return value.toString('hex');
  if (!(value instanceof Date)) return value as Value | readonly string[];
  const year = value.getUTCFullYear();
  return year >= 1 && year <= 9999 ? value.toISOString() : null;
}

function keyOf({ key }: Kind, row: Raw): string[] {
  return Object.keys(key).map((column) => String(plain(row[column])));
}

function shown(kind: Kind, row: Raw, masks: boolean): Row {
  const cell = (column: string) => {
    const value = row[column];
    if (typeof value === 'string' && kind.schema.shape[column] instanceof z.ZodNumber) return Number(value);
    if (!kind.masked.includes(column) || value === null) return plain(value);
    return masks ? masked(value as string) : (value as string);
  };
  return Object.fromEntries(columnsOf(kind).map((column) => [column, cell(column)]));
}
