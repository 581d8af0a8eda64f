import type { Tx } from '../../db/pool.ts';

/**
 * The sandbox's clock: makes the partner's pending deliveries that are not in flight due `seconds` earlier, but not before now, because the
 * log has sealed what has happened; returns how many. Runs of failures, and the rest of a URL that never answered 2xx, move as much. `now`
 * replaces the database's clock in tests.
 */
export async function advanceTime(
  tx: Tx,
  partnerId: string,
  seconds: number,
  now: Date | null = null,
): Promise<number> {
  const held = await tx<{ id: string }[]>`
    select d.id
    from webhooks w
    join deliveries d on d.webhook_id = w.id and d.partner_id = w.partner_id
    where w.partner_id = ${partnerId} and d.status = 'pendente'
    order by d.id
    for update of d`;
  const ids = held.map(({ id }) => id);
  await tx`select hold_pending(${ids}::uuid[])`;
  const { count } = await tx`
    update deliveries
    set next_attempt_at = least(next_attempt_at, greatest(
      next_attempt_at - ${seconds} * interval '1 second', coalesce(${now}::timestamptz, now())))
    where id = any (${ids}::uuid[]) and partner_id = ${partnerId} and id <> all (array(select delivery_id from flights()))`;
  await tx`
    update failing_runs set first_failed_at = first_failed_at - ${seconds} * interval '1 second'
    where partner_id = ${partnerId}`;
  await tx`
    update webhooks set quiet_until = quiet_until - ${seconds} * interval '1 second'
    where partner_id = ${partnerId} and quiet_until > now()`;
  return count;
}
