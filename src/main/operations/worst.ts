/** The webhooks with the most problems, behind a gauge's count: a command reads them, because no metric may name a webhook. */
import { FAILURE_OUTCOMES } from '../../contract/statuses.ts';
import type { Tx } from '../../db/pool.ts';

const MAX_SCANNED = 10_000;
/** Deliveries counted of each. */
const COUNTED = 1_000;
/** Failed attempts of the last quarter of an hour that are looked at, of each outcome. */
const FAILURES = 10_000;

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
      from unnest(${FAILURE_OUTCOMES}::text[]) kind (outcome)
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
      select l as kept, l.webhook_id, coalesce(f.count, 0) >= least(l.max_in_flight, floor(l.window_size)) as saturated, l.max_in_flight
      from waiting_lanes(${MAX_SCANNED}) w
      join lanes l using (webhook_id)
      left join (select webhook_id, count(*) from flights() group by webhook_id) f using (webhook_id)
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
      from waiting_of(lane.kept, now(), array(select f.delivery_id from flights() f), ${COUNTED}) due
    ) late
    left join lateral (
      select d.failures
      from (select delivery_id from pending where webhook_id = lane.webhook_id order by due_at desc, delivery_id desc limit 1) p
      join deliveries d on d.id = p.delivery_id
    ) last on true
    where late.overdue > 0 or last.failures > 0 or fault.reason is not null
    order by fault.reason is null, late.overdue desc, failed_attempts desc, lane.webhook_id
    limit ${limit}`;
}
