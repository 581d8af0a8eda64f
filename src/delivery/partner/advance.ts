/**
 * The sandbox's clock: deliveries become due earlier, so that a partner can watch hours of retries in seconds. What has happened keeps
 * its time, because the log has sealed it; so nothing becomes due before now, which is behind its creation and its last attempt.
 */
import type { Tx } from '../../db/pool.ts';
import { insertArrivals } from '../queue/arrivals.ts';

/**
 * Makes every pending delivery of the partner that is not in flight due `seconds` earlier, now at the earliest; returns how many. Runs
 * of failures began as much earlier, and the rest of a URL that has never answered 2xx ends as much earlier. `now` replaces the
 * database's clock in tests.
 */
export async function advanceTime(
  tx: Tx,
  partnerId: string,
  seconds: number,
  now: Date | null = null,
): Promise<number> {
  const rows = await tx<{ webhookId: string }[]>`
    with pending as materialized (
      select d.id
      from webhooks w
      join deliveries d on d.webhook_id = w.id and d.partner_id = w.partner_id
      where w.partner_id = ${partnerId} and d.status = 'pendente' and d.claimed_by is null
      order by d.id
      for update of d
    )
    update deliveries d
    set next_attempt_at = least(d.next_attempt_at, greatest(
      d.next_attempt_at - ${seconds} * interval '1 second', coalesce(${now}::timestamptz, now())))
    from pending
    where d.id = pending.id and d.partner_id = ${partnerId}
    returning d.webhook_id as "webhookId"`;
  await tx`
    update failing_runs set first_failed_at = first_failed_at - ${seconds} * interval '1 second'
    where partner_id = ${partnerId}`;
  await tx`
    update webhooks set quiet_until = quiet_until - ${seconds} * interval '1 second'
    where partner_id = ${partnerId} and quiet_until > now()`;
  await insertArrivals(
    tx,
    rows.map((row) => row.webhookId),
  );
  return rows.length;
}
