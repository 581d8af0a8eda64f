/**
 * The partner's loans with the newest events. An index of them would cost every append, so a bounded number of events at the end of the
 * partner's log is read. A loan that the projector has not seen is missing.
 */
import type { LoanStatus } from '../contract/statuses.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { isHere } from './read.ts';

const MAX_SCANNED = 2_000;

export interface RecentLoan {
  readonly id: string;
  readonly number: string;
  readonly status: LoanStatus;
  readonly lastEvent: string;
  readonly version: number;
  readonly at: Date;
}

/** At most `limit` loans, last moved first; with `number`, the loan that bears or bore it. */
export async function readRecentLoans(
  pool: Pool,
  partnerId: string,
  limit: number,
  number?: string,
): Promise<RecentLoan[]> {
  return pool.run(
    (sql) => sql<RecentLoan[]>`
      with newest as materialized (
        select stream, type, version, occurred_at, epoch, tx, position
        from events
        where partner_id = ${partnerId} and ${
          number === undefined
            ? sql`not imported`
            : sql`stream = ${numbered(sql, partnerId, number)} and ${isHere(sql, numbered(sql, partnerId, number))}`
        }
        order by epoch desc, tx desc
        fetch first ${MAX_SCANNED} rows with ties
      ),
      last as (
        select distinct on (stream) * from newest order by stream, version desc
      )
      select last.stream as id, l.number, l.status, last.type as "lastEvent", last.version, last.occurred_at as at
      from last
      join loans l on l.id = last.stream and l.partner_id = ${partnerId}
      order by last.epoch desc, last.tx desc, last.position desc
      limit ${limit}`,
  );
}

function numbered(sql: Tx, partnerId: string, number: string) {
  return sql`(select loan_id from numbered_loans where partner_id = ${partnerId} and number = ${number})`;
}
