/**
 * A flight: the one margin query in progress for a partner, worker and employer, across all processes.
 *
 * Invariant: only the holder of the row's lease asks the registry. It lands the flight in the transaction that records the
 * result (`margin_queries`, same id) or the failure (in the row). A request notes which flight landed last. It may start its own
 * if that is still the last one, or if a running flight's lease has expired; otherwise the other flight's landing answers it. So
 * overlapping requests share one query, and no request gets an answer older than itself. Leases use the database's clock.
 *
 * Crash: the lease expires, a waiting request starts a new flight, and the late landing of the old one is refused.
 * Alternative: an advisory lock during the call holds a connection, and passes no answer to the waiting requests.
 */
import type { MARGIN_ERROR_KINDS } from '../../contract/statuses.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import type { MarginQuestion } from '../../registry/port.ts';

export type MarginKey = Pick<MarginQuestion, 'partnerId' | 'workerCpf' | 'employerCnpj'>;

export interface MarginQuery {
  readonly id: string;
  readonly earningsCentavos: number;
  readonly marginCentavos: number;
  readonly queriedAt: Date;
}

export interface MarginFailure {
  readonly kind: (typeof MARGIN_ERROR_KINDS)[number];
  /** Shown to the partner. */
  readonly error: string;
}

export type MarginResult = { readonly query: MarginQuery } | { readonly failure: MarginFailure };

type QueryRow = Omit<MarginQuery, 'id'> & { readonly id: string | null };

function queryOf({ id, earningsCentavos, marginCentavos, queriedAt }: QueryRow): MarginQuery | null {
  return id === null ? null : { id, earningsCentavos, marginCentavos, queriedAt };
}

/** The columns of a query `q`. */
function queryColumns(sql: Tx) {
  return sql`q.id, q.earnings_centavos::float8 as "earningsCentavos", q.margin_centavos::float8 as "marginCentavos",
             q.queried_at as "queriedAt"`;
}

/** A row's `(partner_id, worker_cpf, employer_cnpj)`. */
function keyIn(sql: Tx, { partnerId, workerCpf, employerCnpj }: MarginKey) {
  return sql`(${partnerId}, ${workerCpf}, ${employerCnpj})`;
}

/** What a request finds when it comes: the latest query younger than `reuseHours`, and the flight that landed last. */
export async function arrive(
  pool: Pool,
  key: MarginKey,
  reuseHours: number,
): Promise<{ readonly recent: MarginQuery | null; readonly landed: string | null }> {
  const [row] = await pool.run(
    (sql) => sql<[QueryRow & { landed: string | null }]>`
      select ${queryColumns(sql)}, f.flight as landed
      from (values (true)) one
      left join margin_flights f
        on (f.partner_id, f.worker_cpf, f.employer_cnpj) = ${keyIn(sql, key)} and f.lease_ends_at is null
      left join lateral (
        select *
        from margin_queries
        where (partner_id, worker_cpf, employer_cnpj) = ${keyIn(sql, key)}
          and queried_at > now() - ${reuseHours} * interval '1 hour'
        order by queried_at desc, id desc
        limit 1
      ) q on true`,
  );
  return { recent: queryOf(row), landed: row.landed };
}

/** Takes off unless another flight is under way or has landed since `landed`; the new flight's id, or null. */
export async function takeOff(
  pool: Pool,
  key: MarginKey,
  landed: string | null,
  leaseMs: number,
): Promise<string | null> {
  const [row] = await pool.run(
    (sql) => sql<{ flight: string }[]>`
      insert into margin_flights as f (partner_id, worker_cpf, employer_cnpj, flight, lease_ends_at)
      values (${key.partnerId}, ${key.workerCpf}, ${key.employerCnpj}, uuidv7(),
              clock_timestamp() + ${leaseMs} * interval '1 millisecond')
      on conflict (partner_id, worker_cpf, employer_cnpj) do update
      set flight = excluded.flight, lease_ends_at = excluded.lease_ends_at, error_kind = null, error = null
      where f.lease_ends_at <= clock_timestamp() or (f.lease_ends_at is null and f.flight = ${landed}::uuid)
      returning f.flight`,
  );
  return row?.flight ?? null;
}

/** Lands `flight` in the caller's transaction, with its failure if it has one; false when it is not the flight any more. */
export async function land(tx: Tx, key: MarginKey, flight: string, failure: MarginFailure | null): Promise<boolean> {
  const rows = await tx`
    update margin_flights
    set lease_ends_at = null, error_kind = ${failure?.kind ?? null}, error = ${failure?.error ?? null}
    where (partner_id, worker_cpf, employer_cnpj) = ${keyIn(tx, key)}
      and flight = ${flight} and lease_ends_at is not null
    returning flight`;
  return rows.length === 1;
}

/** What the latest flight landed with; null while it is under way, and when it was lost. There must be one. */
export async function look(pool: Pool, key: MarginKey): Promise<MarginResult | null> {
  const [row] = await pool.run(
    (sql) => sql<
      (QueryRow & {
        flight: string;
        hasLanded: boolean;
        kind: MarginFailure['kind'] | null;
        error: string | null;
      })[]
    >`
      select f.flight, f.lease_ends_at is null as "hasLanded", f.error_kind as kind, f.error, ${queryColumns(sql)}
      from margin_flights f
      left join margin_queries q on q.id = f.flight
      where (f.partner_id, f.worker_cpf, f.employer_cnpj) = ${keyIn(sql, key)}`,
  );
  if (row === undefined) throw new Error('a margin flight has gone');
  const { flight, hasLanded, kind, error } = row;
  if (kind !== null && error !== null) return { failure: { kind, error } };
  const query = queryOf(row);
  if (query !== null) return { query };
  if (hasLanded) throw new Error(`flight ${flight} landed without a result`);
  return null;
}
