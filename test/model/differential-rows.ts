/** Deliveries and their attempt rows as the database has them, and the comparison with the model's. */
import type { Sql } from '../../src/db/pool.ts';
import type { Life } from './delivery-model.ts';

/** The SQL and the model do not agree, or the SQL broke a rule. `check` says which. */
export class Divergence extends Error {
  override name = 'Divergence';

  constructor(during: string, check: string, id: string) {
    super(`${during}: ${check} (${id})`);
  }
}

export interface Tracked {
  readonly id: string;
  readonly webhookId: string;
  readonly life: Life;
}

export interface Compared {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly failures: number;
  readonly lostInRow: number;
  readonly dueAt: number | null;
  readonly claim: string | null;
  /** What its row of `pending` has that it must not; null: nothing. */
  readonly pending: string | null;
  /** `number outcome` of each attempt row, an L before those that came late; in order. */
  readonly rows: string | null;
}

export async function readBoth(sql: Sql, ids: readonly string[]): Promise<Map<string, Compared>> {
  const rows = await sql<Compared[]>`
    with flying as materialized (select delivery_id, number, poller || '/' || claim as claim from flights())
    select d.id, d.status, coalesce(f.number, d.attempts) as attempts, d.failures, coalesce(d.lost_in_row, 0) as "lostInRow", f.claim,
           case when p.n <> (d.status = 'pendente')::int then 'has ' || p.n || ' rows pending' else p.due end as pending,
           extract(epoch from d.next_attempt_at)::float8 * 1000 as "dueAt", a.rows
    from deliveries d
    left join flying f on f.delivery_id = d.id
    cross join lateral (
      select count(*)::int as n, max(case when q.due_at not in ('-infinity', d.next_attempt_at) then 'is pending at another time'
                                          when q.number <> d.attempts then 'is pending with another number' end) as due
      from pending q where q.webhook_id = d.webhook_id and q.delivery_id = d.id
    ) p
    left join lateral (
      select string_agg(case when late then 'L' else '' end || number || ' ' || outcome, ', ' order by number, late) as rows
      from attempts where delivery_id = d.id
    ) a on true
    where d.id = any (${ids as string[]}::uuid[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

function rowsOf({ rows }: Life): string {
  return [...rows]
    .sort((one, other) => one.number - other.number || Number(one.late) - Number(other.late))
    .map((row) => `${row.late ? 'L' : ''}${row.number} ${row.outcome}`)
    .join(', ');
}

/** Microseconds are lost on the way through a double. */
function isSameTime(one: number | null, other: number | null): boolean {
  return one === null || other === null ? one === other : Math.abs(one - other) < 0.5;
}

/** Throws a {@link Divergence} that names the first thing in which they differ. */
export function compare(during: string, id: string, life: Life, row: Compared | undefined): void {
  if (!row) throw new Divergence(during, 'the delivery is gone', id);
  const differ = (what: string, is: unknown, must: unknown): never => {
    throw new Divergence(during, `${what} is ${String(is)}, must be ${String(must)}`, id);
  };
  if (row.status !== life.status) differ('status', row.status, life.status);
  if (row.attempts !== life.attempts) differ('attempts', row.attempts, life.attempts);
  if (row.failures !== life.failures) differ('failures', row.failures, life.failures);
  if (row.lostInRow !== life.lostInRow) differ('lost_in_row', row.lostInRow, life.lostInRow);
  if (row.claim !== life.claim) differ('claim', row.claim, life.claim);
  if (!isSameTime(row.dueAt, life.dueAt)) differ('next_attempt_at', row.dueAt, life.dueAt);
  if (row.pending !== null) throw new Divergence(during, row.pending, id);
  if ((row.rows ?? '') !== rowsOf(life)) differ('attempt rows', row.rows, rowsOf(life));
}
