/** `maintain`: finds the months that are old enough, and takes each from its present state to removed; then the events of loans that were over before. */
import { addMonths, dayOf, startOfDay } from '../contract/calendar.ts';
import type { Pool } from '../db/pool.ts';
import { readMonths } from './acts.ts';
import { Archives } from './archived-rows.ts';
import { eraseInMonths } from './erase-months.ts';
import { leave } from './leave.ts';
import { removeMonth } from './move-month.ts';
import { archiveMonth, type Archiving } from './write-month.ts';

interface Maintaining extends Pick<Archiving, 'pool' | 'openPlace' | 'signers' | 'actor'> {
  /** After how many months what goes, and where to; null: everything is kept. */
  readonly maintenance: { readonly keepMonths: number; readonly to: string } | null;
  readonly seal: () => Promise<void>;
  readonly onProgress?: (month: string, rows: number) => void;
}

/** Idempotency keys of one statement. */
const KEYS = 2_000;

/**
 * Brings erasures into files, removes old idempotency keys, moves each month, oldest first. Throws `ArchiveFault` at the first
 * failure.
 */
export async function maintainMonths({ maintenance, seal, onProgress, ...deps }: Maintaining) {
  const erased = await eraseInMonths(deps);
  const removed: { readonly month: string; readonly rows: number }[] = [];
  if (maintenance === null) return { erased, keys: 0, removed, loans: 0 };
  const { keepMonths, to } = maintenance;
  const { months, before, first } = await oldMonths(deps.pool, keepMonths);
  const keys = await removeKeys(deps.pool, before);
  for (const month of months) {
    const moving = { ...deps, month, reason: null, onProgress: (rows: number) => onProgress?.(month, rows) };
    const act = (await deps.pool.run(readMonths)).find((found) => found.month === month)?.act;
    if (act === 'remocao_concluida' || act === 'restauracao') continue;
    if (act === undefined) await archiveMonth({ ...moving, place: deps.openPlace(to) });
    removed.push({ month, rows: await removeMonth(moving, seal) });
  }
  const { events: readEvents } = new Archives(deps.pool, deps.openPlace);
  const leaving = { ...deps, readEvents, before: first, onProgress: (rows: number) => onProgress?.('events', rows) };
  return { erased, keys, removed, loans: await leave(leaving) };
}

/** Those from before a moment, of operations on webhooks. Returns how many. */
async function removeKeys(pool: Pool, before: Date): Promise<number> {
  for (let removed = 0; ;) {
    const [{ keys }] = await pool.run(
      (sql) => sql<[{ keys: number }]>`select remove_old_keys(${before}, ${KEYS})::float8 as keys`,
    );
    removed += keys;
    if (keys < KEYS) return removed;
  }
}

/** The months with seals that ended at least `keepMonths` months ago, by the database's clock, and when the last of them ended. */
async function oldMonths(pool: Pool, keepMonths: number): Promise<{ months: string[]; before: Date; first: string }> {
  const [{ now, months }] = await pool.run(
    (sql) => sql<[{ now: Date; months: string[] }]>`
      select now() as now,
             array(select distinct to_char(sealed_at at time zone 'America/Sao_Paulo', 'YYYY-MM') as month from seals order by month) as months`,
  );
  const first = addMonths(`${dayOf(now).slice(0, 7)}-01`, -keepMonths);
  return { months: months.filter((month) => month < first.slice(0, 7)), before: startOfDay(first), first };
}
