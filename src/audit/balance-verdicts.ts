/** The verdicts of `audit balance`, kept in the database. */
import type { BalanceResource } from '../contract/resources/audit-resource.ts';
import type { Tx } from '../db/pool.ts';

export interface BalanceStanding {
  readonly closes: boolean;
  readonly differences: number;
  readonly from: string;
  readonly to: string;
  readonly checkedAt: Date;
  /** Since the newest run. */
  readonly ageS: number;
}

const NEWEST = 400;

/** The newest verdict that has a difference, unless a later one of the same days closes; else the newest; null before the first. */
export async function readBalanceStanding(sql: Tx): Promise<BalanceStanding | null> {
  const [found] = await sql<BalanceStanding[]>`
    with newest as materialized (select * from balance_verdicts order by position desc limit ${NEWEST})
    select closes, differences, from_day as "from", to_day as "to", checked_at as "checkedAt",
           abs(extract(epoch from now() - (select max(checked_at) from newest)))::float8 as "ageS"
    from newest v
    where closes or not exists (
      select from newest later
      where later.position > v.position and later.from_day <= v.from_day and later.to_day >= v.to_day)
    order by closes, position desc
    limit 1`;
  return found ?? null;
}

export async function keepBalanceVerdict(
  sql: Tx,
  { de, ate, fecha, total_diferencas: found }: BalanceResource,
): Promise<void> {
  await sql`
    insert into balance_verdicts (from_day, to_day, closes, differences) values (${de}, ${ate}, ${fecha}, ${found})`;
}
