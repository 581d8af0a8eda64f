/**
 * The record: writes the outcomes of many attempts in one transaction and removes finished deliveries from `pending`.
 * Invariant: every report leaves exactly one attempt row; one that the database refuses (a bug of ours) leaves `desconhecido`. A failure
 * moves a delivery only if its attempt is the next one of the locked row; whoever ends an attempt otherwise raises the number. A success
 * always counts, late too: the partner has the delivery.
 * Crash before a commit: whoever ends the poller logs the attempts as `desconhecido`. After an unknown commit the flush is repeated. Timely
 * and late reports are written by two transactions, so it finds what the first flush did: it skips existing rows, and does not take their
 * reports for late ones.
 * Lock order: deliveries by id; no lanes. The lock on a delivery's row guards its row of `pending` too. Both are written by their
 * positions: in a join, the planner reads all of a table that was empty when it was analyzed.
 */
import type { Pool, Tx } from '../../db/pool.ts';
import { leaveToCommit } from '../../db/transaction.ts';
import { arrayText } from './array-text.ts';
import { logLostAttempts } from './rescuer.ts';
import type { Report } from './report.ts';

/**
 * How a report was taken: in time; as its delivery's last failure (`erro`); after its lease was lost; or already written by an earlier
 * flush.
 */
type Standing = 'current' | 'given_up' | 'late' | 'repeated';

export interface Completion {
  readonly standing: Standing;
  /**
   * When its delivery is tried again; null: it is over. Undefined: unknown, because somebody else or an earlier flush ended the attempt.
   */
  readonly retryAt?: Date | null;
}

/**
 * Records `reports`: those whose claim stands in one transaction and one round trip, the others in a second one. `monotonicMs` is the clock
 * of `startedAtMs`; `now` replaces the database's clock in tests.
 */
export async function record(
  pool: Pool,
  reports: readonly Report[],
  monotonicMs: () => number,
  now: Date | null = null,
): Promise<Map<Report, Completion>> {
  const inOrder = reports.toSorted((one, other) => (one.deliveryId < other.deliveryId ? -1 : 1));
  const current = await pool.transaction((tx) => {
    const written = recordCurrent(tx, inOrder, monotonicMs(), now);
    leaveToCommit(tx, written);
    return Promise.resolve({ written });
  });
  const completions = new Map<Report, Completion>(await current.written);
  const rest = inOrder.filter((report) => !completions.has(report));
  if (rest.length === 0) return completions;
  const late = await pool.transaction((tx) => recordLate(tx, rest, monotonicMs(), now));
  for (const report of rest) completions.set(report, { standing: late.has(report) ? 'late' : 'repeated' });
  return completions;
}

/** Reports whose deliveries are locked by others now. */
export async function heldByOthers(pool: Pool, reports: readonly Report[]): Promise<ReadonlySet<Report>> {
  const ids = reports.map((report) => report.deliveryId);
  const partnerIds = reports.map((report) => report.partnerId);
  const held = await pool.transaction(
    (tx) => tx<{ id: string }[]>`
      with free as materialized (
        select id from deliveries
        where id = any (${ids}::uuid[]) and partner_id = any (${partnerIds}::uuid[])
        for no key update skip locked
      )
      select id from deliveries
      where id = any (${ids}::uuid[]) and partner_id = any (${partnerIds}::uuid[]) and id not in (select id from free)`,
  );
  const heldIds = new Set(held.map(({ id }) => id));
  return new Set(reports.filter((report) => heldIds.has(report.deliveryId)));
}

/**
 * The reports as a relation: each with its ordinal from 1, and its times on the database's clock. Network delay shifts the start, because
 * ages are taken at this call; `startedByMs` caps it, and no attempt starts after its row's own transaction (`recorded_at`).
 * Digests travel as one value, and `unnest` stands in the select list: as a text array, or in FROM (which materialises each array), they
 * took 1/20 of the record's instructions.
 */
function reportRows(tx: Tx, reports: readonly Report[], monotonicMs: number, now: Date | null) {
  const listOf = (value: (report: Report) => string | number | null) => arrayText(reports, value);
  return tx`
    select r.*, started_at, least(started_at + r.duration_ms * interval '1 millisecond', batch.now) as ended_at,
           substring(batch.digests from 32 * r.ordinal - 31 for 32) as body_digest
    from (
      select coalesce(${now}::timestamptz, clock_timestamp()) as now, coalesce(${now}::timestamptz, now()) as begun,
             decode(${reports.map((report) => report.bodyDigest).join('')}, 'hex') as digests
    ) batch
    cross join (
      select unnest(${listOf((report) => report.deliveryId)}::text::uuid[]) as id,
             unnest(${listOf((report) => report.partnerId)}::text::uuid[]) as partner_id,
             unnest(${listOf((report) => report.dueAt ?? '-infinity')}::text::timestamptz[]) as due_at,
             unnest(${listOf((report) => report.number)}::text::int[]) as number,
             unnest(${listOf((report) => report.claim)}::text::text[]) as claim,
             unnest(${listOf((report) => report.url)}::text::text[]) as url,
             unnest(${listOf((report) => report.keyId)}::text::text[]) as key_id,
             unnest(${listOf((report) => Math.max(0, monotonicMs - report.startedAtMs))}::text::float8[]) as age_ms,
             unnest(${listOf((report) => report.startedByMs / 1_000)}::text::float8[]) as started_by_s,
             unnest(${listOf((report) => report.result.durationMs)}::text::int[]) as duration_ms,
             unnest(${listOf((report) => report.result.outcome)}::text::text[]) as outcome,
             unnest(${listOf((report) => report.result.statusCode)}::text::smallint[]) as status_code,
             unnest(${listOf((report) => report.result.address)}::text::text[]) as address,
             unnest(${listOf((report) => report.result.error)}::text::text[]) as error,
             unnest(${listOf((report) => report.result.answer)}::text::text[]) as answer,
             generate_series(1, ${reports.length}::int) as ordinal
    ) r
    cross join lateral (
      select least(batch.now - r.age_ms * interval '1 millisecond', to_timestamp(r.started_by_s), batch.begun) as started_at
    ) started`;
}

async function recordCurrent(
  tx: Tx,
  reports: readonly Report[],
  monotonicMs: number,
  now: Date | null,
): Promise<ReadonlyMap<Report, Completion>> {
  const [{ ordinals, statuses, retries }] = await tx<
    [{ ordinals: number[]; statuses: string[]; retries: (Date | null)[] }]
  >`
    with report as materialized (${reportRows(tx, reports, monotonicMs, now)}),
    moved as (
      update deliveries d
      set status = case
            when r.delivered then 'entregue'
            when next_slot(d, r.ended_at) is null then 'erro'
            else 'pendente'
          end,
          attempts = r.number,
          failures = d.failures + (not r.delivered)::int,
          lost_in_row = null,
          next_attempt_at = case when not r.delivered then next_slot(d, r.ended_at) end,
          finished_at = case when r.delivered or next_slot(d, r.ended_at) is null then r.ended_at end
      from (
        select report.*, report.outcome = 'entregue' as delivered, held.place
        from report
        cross join lateral (
          select h.ctid as place from deliveries h where h.id = report.id and h.partner_id = report.partner_id limit 1 for no key update
        ) held
      ) r
      where d.ctid = r.place and d.attempts = r.number - 1 and d.status = 'pendente'
      returning r.*, d.webhook_id, d.event_id, d.status, d.next_attempt_at, d.is_test
    ),
    gone as (
      delete from pending
      where ctid = any (array(
        select p.ctid
        from moved m
        cross join lateral (
          select p.ctid from pending p
          where p.webhook_id = m.webhook_id and p.due_at = m.due_at and p.delivery_id = m.id
          limit 1
        ) p))
    ),
    put_off as (
      insert into pending (due_at, tx, number, webhook_id, delivery_id, event_id, partner_id, is_test)
      select next_attempt_at, null, number, webhook_id, id, event_id, partner_id, is_test from moved where status = 'pendente'
    ),
    logged as (
      insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at,
                            duration_ms, target, url, address, key_id, claim, error, answer, body_digest)
      select moved.id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, target.id,
             case when target.id is null then url end, case when target.id is null then address end,
             case when target.id is null then key_id end, claim, error, answer, body_digest
      from moved
      left join lateral (
        select t.id from targets t
        where t.url = moved.url and t.address = moved.address and t.key_id = moved.key_id
        limit 1
      ) target on true
    )
    select coalesce(array_agg(ordinal), '{}') as ordinals, coalesce(array_agg(status), '{}') as statuses,
           coalesce(array_agg(next_attempt_at), '{}') as retries
    from moved`;
  return new Map(
    ordinals.map((ordinal, index) => [
      reports[ordinal - 1] as Report,
      { standing: statuses[index] === 'erro' ? 'given_up' : 'current', retryAt: retries[index] ?? null },
    ]),
  );
}

/** Logs the late reports and makes `entregue` what a late success proves delivered. Returns the logged ones. */
async function recordLate(
  tx: Tx,
  reports: readonly Report[],
  monotonicMs: number,
  now: Date | null,
): Promise<ReadonlySet<Report>> {
  const partnerIds = reports.map((report) => report.partnerId);
  // First: a snapshot from before an erasure, which may hold them, would show its events with their salts.
  await tx`
    select from deliveries
    where id = any (${reports.map((report) => report.deliveryId)}::uuid[]) and partner_id = any (${partnerIds}::uuid[])
    order by id
    for update`;
  const logged = await tx<(ReportKey & { outcome: string })[]>`
    with report as materialized (${reportRows(tx, reports, monotonicMs, now)})
    insert into attempts (delivery_id, number, late, event_id, webhook_id, partner_id, outcome, status_code, started_at,
                          duration_ms, url, address, key_id, claim, error, answer, body_digest)
    select r.id, r.number, true, d.event_id, d.webhook_id, d.partner_id, r.outcome, r.status_code, r.started_at,
           r.duration_ms, r.url, r.address, r.key_id, r.claim, r.error,
           case when not exists (select from events e where e.id = d.event_id and e.salt is null) then r.answer end,
           r.body_digest
    from report r
    cross join lateral (
      select event_id, webhook_id, partner_id from deliveries where id = r.id and partner_id = r.partner_id limit 1
    ) d
    where not exists (
      select from attempts written
      where written.delivery_id = r.id and written.number = r.number and not written.late
        and written.outcome <> 'desconhecido'
    )
    on conflict do nothing
    returning delivery_id as "deliveryId", number, outcome`;
  const delivered = logged.filter((row) => row.outcome === 'entregue').map((row) => row.deliveryId);
  if (delivered.length > 0) {
    await logLostAttempts(tx, delivered);
    await tx`
      update deliveries
      set status = 'entregue', lost_in_row = null, next_attempt_at = null,
          finished_at = coalesce(${now}::timestamptz, clock_timestamp())
      where id = any (${delivered}::uuid[]) and partner_id = any (${partnerIds}::uuid[]) and status <> 'entregue'`;
  }
  const keys = new Set(logged.map(keyOf));
  return new Set(reports.filter((report) => keys.has(keyOf(report))));
}

type ReportKey = Pick<Report, 'deliveryId' | 'number'>;

function keyOf({ deliveryId, number }: ReportKey): string {
  return `${deliveryId}/${number}`;
}
