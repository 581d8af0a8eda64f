/**
 * Days whose balance is kept, so that five years are answered in seconds.
 * Invariant: a kept day is over, closes, has nothing pending, and is sealed as a whole. Each later change of it (history, a late
 * event, an order, a late report) is a row above that seal that names the day, and a named day is counted anew.
 * A kept day is the count of its time: the database's owner can change it, so `--anew` reads everything. Alternative: a sum for
 * each day, which every record would have to write.
 */
import type { BalanceLine, BalanceResource, DifferenceResource } from '../contract/resources/audit-resource.ts';
import { addDays, dayOf, startOfDay } from '../contract/calendar.ts';
import type { Pool, Tx } from '../db/pool.ts';
import type { Fragment } from '../db/sql.ts';
import { readLastSeal, type Seal } from './seals/seal-log.ts';

export interface KeptDay {
  readonly day: string;
  readonly lines: readonly BalanceLine[];
  readonly differences: readonly DifferenceResource[];
  /** The first and the last seal that it rests on; the first is null where nothing happened. */
  readonly firstSeal: number | null;
  readonly lastSeal: number;
}

/** The kept days of a period that nothing has changed since. */
export async function readKeptDays(pool: Pool, from: string, to: string): Promise<Map<string, KeptDay>> {
  return pool.run(async (sql) => {
    const whole = sql`lines, differences, first_seal::float8 as "firstSeal",`;
    const kept = await readUnchanged<KeptDay>(sql, whole, from, to);
    return new Map(kept.map((one) => [one.day, one]));
  });
}

/** The kept days that nothing has changed since: day, last seal, and `columns`. */
async function readUnchanged<T extends Pick<KeptDay, 'day' | 'lastSeal'>>(
  sql: Tx,
  columns: Fragment,
  from: string,
  to: string,
): Promise<T[]> {
  const kept = await sql<T[]>`
    select day, ${columns} last_seal::float8 as "lastSeal"
    from balance_days k
    where day between ${from} and ${to} and exists (select from seals s where s.number = k.last_seal and s.leaf = k.leaf)
    order by day`;
  const oldest = Math.min(...kept.map(({ lastSeal }) => lastSeal));
  const changed = kept.length === 0 ? new Set() : await daysChangedSince(sql, oldest);
  return kept.filter(({ day }) => !changed.has(day));
}

async function daysChangedSince(sql: Tx, seal: number): Promise<Set<string>> {
  const [{ epoch, tx }] = await sql<[{ epoch: number; tx: string }]>`
    select end_epoch as epoch, end_tx::text as tx from seals where number = ${seal}`;
  const above = sql`(epoch = ${epoch} and xid8send(tx)::bigint >= ${tx}::text::bigint or epoch > ${epoch})`;
  const rows = await sql<{ day: string }[]>`
    select distinct ${dayIn(sql)} as day
    from (
      select occurred_at from events where ${above}
      union all
      select e.occurred_at
      from (
        select pg_catalog.unnest(delivery_ids) as delivery_id from send_orders where ${above}
        union
        select delivery_id from attempts where late and ${above}
      ) reported
      join deliveries d on d.id = reported.delivery_id
      join events e on e.id = d.event_id
    ) changed
    where isfinite(occurred_at)`;
  return new Set(rows.map(({ day }) => day));
}

/** Drops changed days and has the others rest on the log as `reading` has it now; returns its newest seal and those others. */
export async function refreshKeptDays(
  pool: Pool,
  reading = pool,
): Promise<{ seal: Seal | null; still: ReadonlySet<string> }> {
  const seal = await reading.run(readLastSeal);
  const unchanged = await pool.run((sql) => readUnchanged(sql, sql``, '', '9'));
  const still = unchanged.map(({ day }) => day);
  await pool.run((sql) => sql`delete from balance_days where day <> all (${still})`);
  if (seal !== null) {
    await pool.run(
      (sql) => sql`
      update balance_days set last_seal = ${seal.number}, leaf = ${seal.leaf}
      where day = any (${still}) and last_seal < ${seal.number}`,
    );
  }
  return { seal, still: new Set(still) };
}

/** Keeps the settled days of a balance counted after `seal`. Those of `still` are not written again: it doubled the time. */
export async function keepDays(
  pool: Pool,
  seal: Seal,
  balance: BalanceResource,
  now: Date,
  still: ReadonlySet<string> = new Set(),
): Promise<void> {
  const byDay = <T extends { readonly dia: string }>(rows: readonly T[]) => Map.groupBy(rows, ({ dia }) => dia);
  const [lines, differences] = [byDay(balance.linhas), byDay(balance.diferencas)];
  const changed = await pool.run((sql) => daysChangedSince(sql, seal.number));
  const settled: { readonly day: string; readonly lines: object; readonly differences: object }[] = [];
  for (let day = balance.de; day <= balance.ate && day < dayOf(now); day = addDays(day, 1)) {
    if (still.has(day)) continue;
    const [counted, found] = [lines.get(day) ?? [], differences.get(day) ?? []];
    const isOpen = counted.some(({ pendente }) => pendente > 0) || found.some(({ tipo }) => tipo !== 'fato_inesperado');
    if (isOpen || changed.has(day)) continue;
    settled.push({ day, lines: counted, differences: found });
  }
  for (const days of Map.groupBy(settled, ({ day }) => day.slice(0, 7)).values()) {
    await pool.run((sql) => writeDays(sql, seal, days));
  }
}

/** Of one month: the first event of each day is found in one pass. */
async function writeDays(sql: Tx, seal: Seal, days: readonly { readonly day: string }[]): Promise<void> {
  const [start, end] = [startOfDay(days[0]?.day ?? ''), startOfDay(addDays(days.at(-1)?.day ?? '', 1))];
  const span = sql`occurred_at >= ${start} and occurred_at < ${end}`;
  await sql`
    with first as materialized (
      select distinct on (day) day, epoch, tx
      from (
        select ${dayIn(sql)} as day, epoch, min(xid8send(tx)::bigint) as tx
        from (select occurred_at, epoch, tx from events where not imported and ${span}
              union all
              select occurred_at, epoch, tx from events where imported and ${span}) either
        group by 1, 2
      ) by_epoch
      order by day, epoch
    )
    insert into balance_days (day, lines, differences, first_seal, last_seal, leaf)
    select d.day, d.lines, d.differences,
           (select s.number from seals s where (s.first_epoch, s.first_tx) <= (e.epoch, e.tx)
            order by s.first_epoch desc, s.first_tx desc limit 1),
           ${seal.number}, ${seal.leaf}
    from json_to_recordset(${JSON.stringify(days)}::text::json) as d (day text, lines json, differences json)
    left join first e on e.day = d.day
    on conflict (day) do update
    set lines = excluded.lines, differences = excluded.differences, first_seal = excluded.first_seal,
        last_seal = excluded.last_seal, leaf = excluded.leaf`;
}

function dayIn(sql: Tx) {
  return sql`to_char(occurred_at at time zone 'America/Sao_Paulo', 'YYYY-MM-DD')`;
}
