/** Who keeps dead rows from vacuum, and seals and the feed from going on: open and prepared transactions, standbys, replication slots. */
import type { Tx } from './pool.ts';

/** A transaction is open for long after so many seconds; or, where others begin meanwhile, after so many of those. */
export const LONG_OPEN_S = 60;
export const MANY_TRANSACTIONS = 10_000;
/** A statement of ours is shorter, though beside others its snapshot may be as old as theirs. */
const SHORT_S = 5;
const SHOWN = 5;

export interface OpenTransaction {
  readonly pid: number;
  readonly name: string;
  readonly database: string;
  readonly seconds: number;
  /** How many transactions have begun since the oldest one that its snapshot, or it, holds back. */
  readonly transactions: number;
}

/** Transactions that are open for long. One that writes counts in any database. */
export async function readLongOpen(sql: Tx): Promise<readonly OpenTransaction[]> {
  return sql<OpenTransaction[]>`
    select pid, application_name as name, datname as database, extract(epoch from clock_timestamp() - xact_start)::int as seconds,
           coalesce(held.transactions, 0) as transactions
    from pg_stat_activity
    cross join lateral (select greatest(age(backend_xid), age(backend_xmin)) as transactions) held
    where (datname = current_database() or backend_xid is not null) and backend_type = 'client backend'
      and xact_start < clock_timestamp()
          - case when held.transactions > ${MANY_TRANSACTIONS} then ${SHORT_S}::int else ${LONG_OPEN_S}::int end * interval '1 second'
    order by xact_start limit ${SHOWN}`;
}

/** How many transactions have begun since the oldest whose dead rows anybody keeps. */
export async function readHeldTransactions(sql: Tx): Promise<number> {
  const [{ held }] = await sql<[{ held: number }]>`
    select greatest(
      0,
      (select max(greatest(age(backend_xid), age(backend_xmin))) from pg_stat_activity
       where datname = current_database() or backend_xid is not null or backend_type = 'walsender'),
      (select max(age(transaction)) from pg_prepared_xacts),
      (select max(age(xmin)) from pg_replication_slots)
    ) as held`;
  return held;
}
