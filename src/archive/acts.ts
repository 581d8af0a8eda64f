/** The acts on months, which are the sealed rows of `archive_acts`: a month's state is its newest row. */
import type { ArchiveAct } from '../contract/statuses.ts';
import { addMonths, startOfDay } from '../contract/calendar.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { ArchiveFault } from './archive-fault.ts';

export interface MonthAct {
  readonly act: ArchiveAct;
  readonly month: string;
  readonly firstSeal: number;
  readonly lastSeal: number;
  readonly place: string;
  /** SHA-256 of the month's manifest. */
  readonly manifest: Buffer;
  /** Of the month's deliveries (manifest.ts). */
  readonly deliveries: Buffer;
  readonly rows: number;
}

interface PlacedAct extends MonthAct {
  readonly position: number;
}

/** An auditor's login may not read them in the table. */
interface Author {
  readonly actor: string;
  readonly reason: string | null;
}

export async function readActs(sql: Tx): Promise<PlacedAct[]> {
  return sql<PlacedAct[]>`
    select position::float8 as position, act, month, first_seal::float8 as "firstSeal", last_seal::float8 as "lastSeal", place, manifest, deliveries, rows::float8 as rows
    from archive_acts order by position`;
}

export async function readMonths(sql: Tx): Promise<MonthAct[]> {
  return newestOf(await readActs(sql));
}

export function newestOf(acts: readonly PlacedAct[]): PlacedAct[] {
  const newest = new Map(acts.map((act) => [act.month, act]));
  return [...newest.values()].toSorted((one, other) => (one.month < other.month ? -1 : 1));
}

export async function readMonth(sql: Tx, month: string): Promise<MonthAct | null> {
  return (await readActsOn(sql, month)).at(-1) ?? null;
}

export async function readActsOn(sql: Tx, month: string): Promise<PlacedAct[]> {
  return (await readActs(sql)).filter((act) => act.month === month);
}

/**
 * Registers an act behind `found`, the month's newest act when the work began (null: none). Throws {@link ArchiveFault} if another run
 * has changed or moved the files since, or the month is not in the state any more that the act repeats.
 */
export async function addAct(
  pool: Pool,
  found: MonthAct | null,
  { act, month, firstSeal, lastSeal, place, manifest, deliveries, rows, actor, reason }: MonthAct & Author,
): Promise<void> {
  await pool.transaction(async (tx) => {
    await tx`select pg_advisory_xact_lock(advisory_lock('archiving'))`;
    const newest = await readMonth(tx, month);
    if (act === 'arquivamento' && newest !== null && isRemoved(newest))
      throw new ArchiveFault(`another run removes the rows of ${month} meanwhile: run it again`);
    const isSame =
      newest?.place === found?.place &&
      newest?.manifest.toString('hex') === found?.manifest.toString('hex') &&
      (act !== found?.act || act === newest?.act) &&
      (act !== 'remocao_concluida' || (newest !== null && isRemoved(newest)));
    if (!isSame)
      throw new ArchiveFault(`another run has written ${month} anew meanwhile, moved or restored it: run it again`);
    await tx`
      insert into archive_acts (act, month, first_seal, last_seal, place, manifest, deliveries, rows, actor, reason)
      values (${act}, ${month}, ${firstSeal}, ${lastSeal}, ${place}, ${manifest}, ${deliveries}, ${rows}, ${actor}, ${reason})`;
  });
}

/**
 * What is wrong with the acts on one month, oldest first; null: nothing. No seal covers deliveries: only an archiving says what
 * they are, later acts repeat that, and no month is archived anew while its rows are away.
 */
export function faultOf(acts: readonly MonthAct[]): string | null {
  for (const [index, { act, deliveries }] of acts.entries()) {
    const before = acts[index - 1];
    const isAway = before !== undefined && isRemoved(before);
    if (act === 'arquivamento' ? isAway : before === undefined)
      return `its act ${index + 1}, ${act}, ${isAway ? 'came while its rows were away' : 'came before any archiving'}`;
    if (act !== 'arquivamento' && !before?.deliveries.equals(deliveries))
      return `its act ${index + 1}, ${act}, has other deliveries than the act before it`;
    if (act === 'restauracao' && before?.act !== 'restauracao' && !isAway)
      return `its act ${index + 1}, ${act}, came while its rows were there`;
  }
  return null;
}

export function isRemoved({ act }: MonthAct): boolean {
  return act === 'remocao' || act === 'remocao_concluida';
}

/** The months, of these, that a period touches; null: it has no bound on that side. */
export function monthsWithin(months: readonly string[], from: Date | null, until: Date | null): string[] {
  return months.filter((month) => {
    const [start, end] = [startOfDay(`${month}-01`), startOfDay(addMonths(`${month}-01`, 1))];
    return (until === null || start < until) && (from === null || end > from);
  });
}
