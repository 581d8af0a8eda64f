/** What was done to months, as the sealed rows of `archive_acts` tell: a month's state is its newest row. */
import type { ArchiveAct } from '../contract/statuses.ts';
import type { Tx } from '../db/pool.ts';

export interface MonthAct {
  readonly act: ArchiveAct;
  readonly month: string;
  readonly firstSeal: number;
  readonly lastSeal: number;
  readonly place: string;
  /** SHA-256 of the month's manifest. */
  readonly manifest: Buffer;
  readonly rows: number;
}

/** Who did it, and why: an auditor's login may not read them in the table. */
interface Author {
  readonly actor: string;
  readonly reason: string | null;
}

/** The newest act of each month, oldest month first. */
export async function readMonths(sql: Tx): Promise<MonthAct[]> {
  return sql<MonthAct[]>`
    select distinct on (month) act, month, first_seal::float8 as "firstSeal", last_seal::float8 as "lastSeal", place, manifest,
           rows::float8 as rows
    from archive_acts order by month, position desc`;
}

export async function readMonth(sql: Tx, month: string): Promise<MonthAct | null> {
  return (await readMonths(sql)).find((act) => act.month === month) ?? null;
}

export async function addAct(
  sql: Tx,
  { act, month, firstSeal, lastSeal, place, manifest, rows, actor, reason }: MonthAct & Author,
) {
  await sql`
    insert into archive_acts (act, month, first_seal, last_seal, place, manifest, rows, actor, reason)
    values (${act}, ${month}, ${firstSeal}, ${lastSeal}, ${place}, ${manifest}, ${rows}, ${actor}, ${reason})`;
}

/** Whether rows of the month may lie in its files alone. */
export function isRemoved({ act }: MonthAct): boolean {
  return act === 'remocao' || act === 'remocao_concluida';
}
