/** What `maintain` does: which months are old enough, and each of them from where it stands to removed. */
import type { Signer } from '../audit/checkpoint/note.ts';
import { addMonths, dayOf } from '../contract/calendar.ts';
import type { Pool } from '../db/pool.ts';
import { readMonths } from './acts.ts';
import { eraseInMonths } from './erase-months.ts';
import { removeMonth } from './move-month.ts';
import type { Place } from './place.ts';
import { archiveMonth } from './write-month.ts';

interface Maintaining {
  readonly pool: Pool;
  readonly openPlace: (name: string) => Place;
  readonly signers: readonly Signer[];
  readonly actor: string;
  readonly keepMonths: number;
  /** Where months go. */
  readonly to: string;
  readonly seal: () => Promise<void>;
  readonly onProgress?: (month: string, rows: number) => void;
}

/** Brings erasures into the files, then goes on with each month until its rows are removed, oldest first. Throws `ArchiveFault` at the first that can't go. */
export async function maintainMonths({ keepMonths, to, seal, onProgress, ...deps }: Maintaining) {
  const erased = await eraseInMonths(deps);
  const removed: { readonly month: string; readonly rows: number }[] = [];
  for (const month of await oldMonths(deps.pool, keepMonths)) {
    const moving = { ...deps, month, reason: null, onProgress: (rows: number) => onProgress?.(month, rows) };
    const act = (await deps.pool.run(readMonths)).find((found) => found.month === month)?.act;
    if (act === 'remocao_concluida' || act === 'restauracao') continue;
    if (act === undefined) await archiveMonth({ ...moving, place: deps.openPlace(to) });
    removed.push({ month, rows: await removeMonth(moving, seal) });
  }
  return { erased, removed };
}

/** The months with seals that ended at least `keepMonths` months ago, by the database's clock. */
async function oldMonths(pool: Pool, keepMonths: number): Promise<string[]> {
  const [{ now, months }] = await pool.run(
    (sql) => sql<[{ now: Date; months: string[] }]>`
      select now() as now,
             array(select distinct to_char(sealed_at at time zone 'America/Sao_Paulo', 'YYYY-MM') as month from seals order by month) as months`,
  );
  const first = addMonths(`${dayOf(now).slice(0, 7)}-01`, -keepMonths).slice(0, 7);
  return months.filter((month) => month < first);
}
