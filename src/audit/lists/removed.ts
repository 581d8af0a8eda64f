/** A page of rows, some of them only in their month's files: the database's rows, and the files' between that page's ends. */
import type { Pool } from '../../db/pool.ts';
import { firstIdAt } from '../../db/first-id.ts';
import { KEY_TYPES, type Kind, type Range, type Removed } from './kind.ts';
import { type Found, type Page, readPage } from './list.ts';
import { placeOf } from './place.ts';

export async function readWithRemoved(
  pool: Pool,
  kind: Kind,
  page: Page,
  seesCpf: boolean,
  removed: Removed | undefined,
): Promise<Found> {
  const { removed: files } = kind;
  if (files === undefined || removed === undefined) return readPage(pool, kind, page, seesCpf);
  for (const [filter, find] of Object.entries(files.named)) {
    const value = page.filters[filter];
    if (value !== undefined) return readPage(pool, kind, page, seesCpf, await find(removed, value));
  }
  const found = await readPage(pool, kind, page, seesCpf);
  const between = await removed.between(files.table, rangeOf(kind, page, found));
  if (between === null) return found;
  const both = await readPage(pool, kind, page, seesCpf, between.rows);
  return between.stoppedAt === null ? both : before(kind, page, both, between.stoppedAt);
}

/** The range of rows between the ends of a page. */
function rangeOf({ key, removed }: Kind, { filters, from, until, after, order }: Page, { next, budget }: Found): Range {
  const isNewestFirst = order === 'newest first';
  const at = (moment: Date) => placeOf([Object.values(key)[0] === 'uuid' ? firstIdAt(moment) : moment.toISOString()]);
  const [start, end] = [after && placeOf(after), next && placeOf(next)];
  const [least, most] = [from === null ? '' : at(from), until === null ? '~' : at(until)];
  const columns = Object.entries(removed?.columns ?? {}).filter(([filter]) => filter in filters);
  return {
    from: isNewestFirst ? (end ?? least) : start === null ? least : `${start} `,
    below: isNewestFirst ? (start ?? most) : end === null ? most : `${end} `,
    isNewestFirst,
    most: budget,
    having: Object.fromEntries(
      columns.map(([filter, column]) => [column, (filters[filter] ?? '').replaceAll('-', '')]),
    ),
  };
}

/** The page up to `moment`, where the search of the files stopped. */
function before({ key }: Kind, { order }: Page, { rows, next, budget }: Found, moment: string): Found {
  const isDown = order === 'newest first';
  const [first = '', ...others] = Object.keys(key);
  const isBefore = (at: unknown) => (isDown ? String(at) > moment : String(at) < moment);
  const kept = rows.filter((row) => isBefore(row[first]));
  if (kept.length === rows.length && next !== null && isBefore(next[0])) return { rows, next, budget };
  return {
    rows: kept,
    budget,
    next: [moment, ...others.map((column) => KEY_TYPES[key[column] ?? 'uuid'][isDown ? 1 : 0])],
  };
}
