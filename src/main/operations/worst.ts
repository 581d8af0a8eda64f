/** The webhooks that are worst off: which ones a gauge's count stands for, asked by hand and never a label. */
import { OUTCOMES } from '../../contract/statuses.ts';
import type { Tx } from '../../db/pool.ts';

/** Webhooks with something pending that are looked at, those first that are due first. */
const LOOKED_AT = 10_000;
/** Deliveries counted of each. */
const COUNTED = 1_000;
/** Failed attempts of the last quarter of an hour that are looked at, of each outcome. */
const FAILURES = 10_000;
const FAILED = OUTCOMES.filter((outcome) => outcome !== 'entregue');

export interface WorstWebhook {
  readonly webhook: string;
  readonly partner: string;
  readonly active: boolean;
  /** Due and not taken, counted up to 1,000, and for how long the oldest of them has been. */
  readonly overdue: number;
  readonly oldest_seconds: number;
  /** Its delivery that is due last has failed before. */
  readonly failing: boolean;
  /** All slots of its cap are in use, or of its partner's share. */
  readonly saturated: boolean;
  readonly max_in_flight: number;
  /** Failed attempts of the last 15 minutes, and the outcome that is most frequent among them. */
  readonly failed_attempts: number;
  readonly resultado: string | null;
  /** What keeps its deliveries from being sent now, on our side. */
  readonly fault: string | null;
}

/** The `limit` webhooks with most that is late, then with most failures. */
export async function readWorst(tx: Tx, limit: number): Promise<WorstWebhook[]> {
  await tx`set local enable_seqscan = off`;
  return tx<WorstWebhook[]>`
    with failed as materialized (
      select f.webhook_id, count(*)::int as failed_attempts, mode() within group (order by f.outcome) as resultado
      from unnest(${FAILED}::text[]) kind (outcome)
      cross join lateral (
        select webhook_id, outcome
        from attempts
        where outcome = kind.outcome and outcome <> 'entregue' and recorded_at > now() - interval '15 minutes'
        order by recorded_at desc
        limit ${FAILURES}
      ) f
      group by f.webhook_id
    ),
    lane as materialized (
      select webhook_id, next_due_at, scan_from, saturated, max_in_flight from lanes
      where next_due_at is not null
      order by next_due_at
      limit ${LOOKED_AT}
    )
    select lane.webhook_id as webhook, w.partner_id as partner, w.active, late.overdue::int,
           coalesce(extract(epoch from now() - late.oldest), 0)::int as oldest_seconds,
           coalesce(last.failures > 0, false) as failing, lane.saturated, lane.max_in_flight,
           coalesce(failed.failed_attempts, 0) as failed_attempts, failed.resultado, fault.reason as fault
    from lane
    join webhooks w on w.id = lane.webhook_id
    left join failed on failed.webhook_id = lane.webhook_id
    left join present_send_faults fault on fault.webhook_id = lane.webhook_id
    cross join lateral (
      select count(*) as overdue, min(next_attempt_at) as oldest
      from (
        select d.next_attempt_at
        from deliveries d
        where d.webhook_id = lane.webhook_id and d.status = 'pendente'
          and d.next_attempt_at between lane.scan_from and now()
          and (d.claimed_at is null or d.claimed_at <= now() - lease())
        order by d.next_attempt_at
        limit ${COUNTED}
      ) due
    ) late
    left join lateral (
      select d.failures
      from deliveries d
      where d.webhook_id = lane.webhook_id and d.status = 'pendente'
      order by d.next_attempt_at desc
      limit 1
    ) last on true
    where late.overdue > 0 or last.failures > 0 or fault.reason is not null
    order by fault.reason is null, late.overdue desc, failed_attempts desc, lane.webhook_id
    limit ${limit}`;
}
