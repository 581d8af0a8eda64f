/**
 * Suspension: deliveries of a deactivated webhook become `suspensa`; after a re-activation the partner may resume them where their schedule
 * stood. Webhooks of a deactivated partner count as inactive.
 * Invariant: every pending delivery of a webhook that stays inactive is suspended in the end, whoever crashes. The deactivation changes the
 * lane, so its keeper reads it again and suspends its rows in batches (a partner's deactivation itself suspends up to 10,000: trigger
 * `partners_suspend_deliveries`). The sweep suspends what came later: of an append that was open meanwhile, or of a flight that failed.
 * Each batch locks webhooks and partners in share mode, so it cannot suspend what a re-activation has just resumed. It skips webhooks that
 * are being changed.
 */
import type { Tx } from '../../../db/pool.ts';
import { logLostAttempts } from '../rescuer.ts';

export const SUSPENDED_AT_ONCE = 1_000;

/** Suspends up to {@link SUSPENDED_AT_ONCE} of these inactive webhooks' deliveries that are not in flight; returns how many. */
export async function suspendUnclaimed(
  tx: Tx,
  webhookIds: readonly string[],
  now: Date | null = null,
): Promise<number> {
  const rows = await tx<{ id: string; partnerId: string }[]>`
    with clock as materialized (
      select coalesce(${now}::timestamptz, now()) as now
    ),
    closed as materialized (
      select w.id, w.partner_id
      from webhooks w
      join partners p on p.id = w.partner_id
      where w.id = any (${webhookIds as string[]}::uuid[]) and not (w.active and p.active)
      for share skip locked
    )
    select unclaimed.id, closed.partner_id as "partnerId"
    from clock, closed
    cross join lateral (
      select d.id
      from (
        select p.delivery_id from pending p
        where p.webhook_id = closed.id
          and p.delivery_id <> all (array(select f.delivery_id from flights() f where f.claimed_at > (select now from clock) - lease()))
        order by p.due_at, p.delivery_id
        limit ${SUSPENDED_AT_ONCE}
      ) p
      cross join lateral (
        select d.id from deliveries d
        where d.id = p.delivery_id and d.partner_id = closed.partner_id and d.status = 'pendente'
        limit 1 for update skip locked
      ) d
    ) unclaimed
    limit ${SUSPENDED_AT_ONCE}`;
  if (rows.length === 0) return 0;
  const ids = rows.map((row) => row.id);
  const partnerIds = rows.map((row) => row.partnerId);
  // The trigger `deliveries_keep_pending` changes those in order as it meets them: two suspensions would wait for each other.
  await tx`
    select from lanes where webhook_id = any (${webhookIds as string[]}::uuid[]) and in_order order by webhook_id for no key update`;
  await logLostAttempts(tx, ids);
  await tx`
    update deliveries
    set status = 'suspensa', next_attempt_at = null
    where id = any (${ids}::uuid[]) and partner_id = any (${partnerIds}::uuid[])`;
  return rows.length;
}
