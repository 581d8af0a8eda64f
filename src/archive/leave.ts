/**
 * Removes the events of loans that have been over for KEEP_MONTHS from the log; their months' files have had them since they were
 * archived.
 * Invariant: the statement that removes an event has made its row again from the file, equal in every column (leave_archived.sql),
 * after the file's SHA-256 was compared with the sealed act's manifest. A loan goes whole: its row is marked first.
 * Crash: a loan that is leaving counts as away, and comes back whole (bring-back.ts); the next run goes on.
 * Alternative: loan by loan; a month's ended loans lie in all files of some years, so each file is walked once.
 */
import { hexOf, type Row } from '../db/binary-record.ts';
import { FIRST_ID } from '../db/first-id.ts';
import type { Pool } from '../db/pool.ts';
import { type MonthAct, readMonths } from './acts.ts';
import { awayOf, bringBack, putBack, type ReadEvents } from './bring-back.ts';
import { readManifest } from './manifest.ts';
import { ArchiveFault } from './archive-fault.ts';
import type { Place } from './place.ts';
import { jsonRow } from './read-table.ts';
import { readTable } from './verify-month.ts';

interface Leaving {
  readonly pool: Pool;
  readonly openPlace: (name: string) => Place;
  readonly readEvents: ReadEvents;
  /** The first day of the oldest month that is kept. */
  readonly before: string;
  readonly onProgress?: (events: number) => void;
}

const LOANS = 500;
const EVENTS = 2_000;
/** Loans that come back in one walk over the files. */
const RETURNING = 50_000;
/** In `projections`: the last seal up to which ended loans were looked for. */
const NAME = 'leaving';

/** Returns how many loans' events are gone. Throws {@link ArchiveFault} if events differ between files and log: these loans are back. */
export async function leave({ pool, openPlace, readEvents, before, onProgress }: Leaving): Promise<number> {
  const months = await removedFromTheFirst(pool);
  const lastSeal = months.at(-1)?.lastSeal ?? 0;
  const lookedTo = await pool.run(
    (sql) => sql<{ seal: number }[]>`
    select position::float8 as seal from projections where name = ${NAME}`,
  );
  if (lastSeal > (lookedTo[0]?.seal ?? 0)) await mark(pool, before, lastSeal);
  const [{ loans, since }] = await pool.run(
    (sql) => sql<[{ loans: number; since: string | null }]>`
    select count(*)::int as loans, to_char(min(away_from) - 1, 'YYYY-MM') as since from loans where is_leaving`,
  );
  if (since === null) return 0;
  let events = 0;
  for (const act of months.filter(({ month }) => month >= since)) {
    for await (const rows of eventsOf(openPlace, act, async (found) => awayOf(pool, found, true))) {
      for (let at = 0; at < rows.length; at += EVENTS) {
        const some = JSON.stringify(rows.slice(at, at + EVENTS));
        const [{ gone }] = await pool.run(
          (sql) => sql<[{ gone: number }]>`
          select leave_archived(${act.month}, ${some}::text::json)::float8 as gone`,
        );
        onProgress?.((events += gone));
      }
    }
  }
  const [{ left }] = await pool.run((sql) => sql<[{ left: string[] }]>`select end_leaving() as left`);
  for (const stream of left) await bringBack(pool, readEvents, stream);
  if (left.length > 0)
    throw new ArchiveFault(`the files lack events of ${left.length} ended loans, which stay; the first is ${left[0]}`);
  return loans;
}

async function removedFromTheFirst(pool: Pool): Promise<MonthAct[]> {
  const months = await pool.run(readMonths);
  let next = 1;
  const end = months.findIndex(({ act, firstSeal, lastSeal }) => {
    const isNext = act === 'remocao_concluida' && firstSeal === next;
    next = lastSeal + 1;
    return !isNext;
  });
  return end < 0 ? months : months.slice(0, end);
}

interface Marked {
  /** The last loan that was looked at; null: there is no other. */
  readonly last: string | null;
  readonly marked: number | null;
}

async function mark(pool: Pool, before: string, lastSeal: number): Promise<void> {
  for (let after: string | null = FIRST_ID; after !== null;) {
    const [{ last, marked }]: [Marked] = await pool.run(
      (sql) => sql<[Marked]>`
      select last, marked from mark_leaving(${before}::date, ${lastSeal}, ${after}::uuid, ${LOANS})`,
    );
    // An order to erase is under way: the next run tries again.
    if (marked === null) return;
    after = last;
  }
  await pool.run(
    (sql) => sql`
    insert into projections (name, tx, position) values (${NAME}, '0', ${lastSeal})
    on conflict (name) do update set position = excluded.position`,
  );
}

/** The month's events of streams that are `wanted`, as JSON has them, a group of a file at a time. */
async function* eventsOf(
  openPlace: (name: string) => Place,
  act: MonthAct,
  wanted: (rows: readonly Row[]) => Promise<ReadonlySet<string>>,
): AsyncGenerator<Row[]> {
  const place = openPlace(act.place);
  const { partes } = await readManifest(place, act);
  for (const file of partes.flatMap(({ arquivos }) => arquivos).filter(({ tabela }) => tabela === 'events')) {
    for await (const { oids, rows } of readTable(place, file)) {
      const streams = await wanted(rows);
      const found = rows.filter((row) => streams.has(hexOf(row['stream'])));
      if (found.length > 0) yield found.map((row) => jsonRow('events', oids, row));
    }
  }
}

/** Brings back all loans that have an event in the month, before its other rows come back. */
export async function returnLoans(pool: Pool, openPlace: (name: string) => Place, act: MonthAct): Promise<void> {
  const streams = new Set<string>();
  const isAway = async (rows: readonly Row[]) => awayOf(pool, rows);
  for await (const rows of eventsOf(openPlace, act, isAway))
    for (const row of rows) streams.add(row['stream'] as string);
  const all = [...streams];
  for (let at = 0; at < all.length; at += RETURNING) {
    const some = all.slice(at, at + RETURNING);
    const wanted = new Set(some.map(hexOf));
    for (const month of await pool.run(readMonths))
      for await (const rows of eventsOf(openPlace, month, async () => wanted))
        for (let from = 0; from < rows.length; from += EVENTS) await putBack(pool, rows.slice(from, from + EVENTS), []);
    for (let from = 0; from < some.length; from += LOANS) await putBack(pool, [], some.slice(from, from + LOANS));
  }
}
