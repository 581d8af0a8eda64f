/**
 * How a partner's webhooks fare, told from the newest deliveries of each.
 *
 * What it costs depends on the number of webhooks alone: {@link SAMPLE} deliveries of each, by the index that lists them,
 * each with its last attempt by key, and the earliest one that waits. Counting a day's attempts would cost a busy partner
 * millions of rows.
 */
import type { Pool } from '../../db/pool.ts';

/** Deliveries of one webhook that are looked at. */
export const SAMPLE = 100;

export interface WebhookHealth {
  readonly webhookId: string;
  /** Deliveries looked at, at most {@link SAMPLE}. */
  readonly looked: number;
  /** Of those, delivered, and those whose last attempt failed. */
  readonly delivered: number;
  readonly failed: number;
  /** Of those, how many of the newest that were tried failed one after the other. */
  readonly failedInRow: number;
  /** Milliseconds from the start of an attempt to its answer; null without an answered one. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** When the pending delivery that is due first is or was due; null when none waits. */
  readonly oldestDueAt: Date | null;
  readonly lastDeliveredAt: Date | null;
  /** Since when it is `falhando`, by the operator's policy: one delivery at a time probes it; null: it is not. */
  readonly failingSince: Date | null;
  /** From then on a failure suspends it; null when it is not `falhando`, or nothing is suspended. */
  readonly suspendsAt: Date | null;
}

/** One row for each webhook, in no order. */
export async function readHealth(pool: Pool, webhookIds: readonly string[]): Promise<WebhookHealth[]> {
  if (webhookIds.length === 0) return [];
  return pool.run(
    (sql) => sql<WebhookHealth[]>`
      with looked as materialized (
        select w.id as webhook_id, d.status, d.finished_at, last.outcome, last.duration_ms, last.status_code,
               row_number() over (partition by w.id order by d.event_id desc) as place_of_all
        from unnest(${[...webhookIds]}::uuid[]) w (id)
        cross join lateral (
          select id, event_id, status, finished_at from deliveries
          where webhook_id = w.id order by event_id desc limit ${SAMPLE}
        ) d
        left join lateral (
          select outcome, duration_ms, status_code from attempts
          where delivery_id = d.id order by number desc, late desc limit 1
        ) last on true
      ),
      tried as (
        select webhook_id, outcome <> 'entregue' as is_failed,
               row_number() over (partition by webhook_id order by place_of_all) as place
        from looked where outcome is not null
      ),
      rows_failed as (
        select webhook_id, coalesce(min(place) filter (where not is_failed), count(*) + 1) - 1 as in_row
        from tried group by webhook_id
      )
      select w.id as "webhookId", coalesce(sum.looked, 0)::int as looked, coalesce(sum.delivered, 0)::int as delivered,
             coalesce(sum.failed, 0)::int as failed, coalesce(f.in_row, 0)::int as "failedInRow",
             sum.p50::float8 as "p50Ms", sum.p95::float8 as "p95Ms", sum.last_delivered as "lastDeliveredAt",
             due.next_attempt_at as "oldestDueAt", lane.failing_since as "failingSince",
             lane.failing_since + (select suspend_after_days from failing_policy) * interval '24 hours' as "suspendsAt"
      from unnest(${[...webhookIds]}::uuid[]) w (id)
      left join (
        select webhook_id, count(*) as looked, count(*) filter (where status = 'entregue') as delivered,
               count(*) filter (where outcome is not null and outcome <> 'entregue') as failed,
               percentile_disc(0.5) within group (order by duration_ms) filter (where status_code is not null) as p50,
               percentile_disc(0.95) within group (order by duration_ms) filter (where status_code is not null) as p95,
               max(finished_at) filter (where status = 'entregue') as last_delivered
        from looked group by webhook_id
      ) sum on sum.webhook_id = w.id
      left join rows_failed f on f.webhook_id = w.id
      left join lateral (
        select next_attempt_at from deliveries
        where webhook_id = w.id and status = 'pendente' order by next_attempt_at limit 1
      ) due on true
      left join lateral (
        select failing_since from lanes where webhook_id = w.id order by version desc limit 1
      ) lane on true`,
  );
}
