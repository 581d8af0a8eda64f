/** Finds days whose deliveries are only in an archive: in a balance each delivery would seem missing. */
import { addDays, addMonths, dayOf, startOfDay } from '../contract/calendar.ts';
import type { Result } from '../contract/refusals.ts';
import type { Pool } from '../db/pool.ts';
import { readKeptDays } from './kept-days.ts';

/** Refused where a day of the period would be counted and has events of a removed month. */
export async function findRemoved(
  pool: Pool,
  from: string,
  to: string,
  { anew = false } = {},
): Promise<Result<null, 'monthRemoved'>> {
  const months = await pool.run(
    (sql) => sql<{ month: string }[]>`
      select month
      from (select distinct on (month) month, act from archive_acts order by month, position desc) newest
      where act in ('remocao', 'remocao_concluida') order by month`,
  );
  const last = months.at(-1)?.month;
  if (last === undefined) return { ok: null };
  const kept = anew ? null : await readKeptDays(pool, from, to);
  // An event is sealed after it happened. Clocks differ, so one month more is looked at.
  const end = addMonths(`${last}-01`, 2);
  for (let day = from; day <= to && day < end; day = addDays(day, 1)) {
    const month = kept?.has(day) ? undefined : await removedOf(pool, startOfDay(day), startOfDay(addDays(day, 1)));
    if (month !== undefined) return { refused: { kind: 'monthRemoved', month, day } };
  }
  return { ok: null };
}

/** The first removed month that has an event of this time, or the newest where a loan's events of this time left. The offset has the planner walk the time, not all seals of the month. */
async function removedOf(pool: Pool, start: Date, end: Date): Promise<string | undefined> {
  const [found] = await pool.run(
    (sql) => sql<{ month: string }[]>`
      select month
      from (
        select distinct on (month) month, act, first_seal, last_seal from archive_acts order by month, position desc
      ) newest
      join seals low on low.number = first_seal
      join seals high on high.number = last_seal
      where act in ('remocao', 'remocao_concluida') and exists (
        select from (
          select epoch, tx from events
          where not imported and occurred_at >= ${start} and occurred_at < ${end} and fan_out > 0
          offset 0
        ) e
        where (e.epoch, xid8send(e.tx)::bigint) >= (low.first_epoch, low.first_tx)
          and (e.epoch, xid8send(e.tx)::bigint) < (high.end_epoch, high.end_tx)
      )
      order by month limit 1`,
  );
  if (found !== undefined) return found.month;
  const day = dayOf(start);
  const [left] = await pool.run(
    (sql) => sql<{ month: string }[]>`
      select max(month) as month from archive_acts
      where exists (select from loans where away_from <= ${day} and away_to >= ${day} and away_digest is not null)
      having max(month) is not null`,
  );
  return left?.month;
}
