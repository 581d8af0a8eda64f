/**
 * Lost attempts: a claim whose poller never reported.
 *
 * Invariant: every POST that may have left has an attempt row. Whoever takes over or ends another's claim (a claim, a
 * late success, a suspension, a resend) writes the row `desconhecido` for it in that same transaction, on deliveries
 * that it has locked. If the lost poller reports after all, its report becomes a second row, marked late.
 */
import { RETRY_DELAYS_S } from '../contract/delivery.ts';
import type { Fragment, Tx } from '../db/pool.ts';

/**
 * The statement that writes the `desconhecido` row of each of these locked deliveries (an array) that is claimed. The
 * URL is the one that its claim read, which the registration may have changed since.
 */
export function lostAttemptRows(tx: Tx, deliveryIds: Fragment): Fragment {
  return tx`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, url, poller)
    select d.id, d.attempts, d.webhook_id, d.partner_id, 'desconhecido', d.claimed_at,
           coalesce(
             (select h.url from webhook_history h
              where h.webhook_id = d.webhook_id and h.changed_at <= d.claimed_at
              order by h.position desc limit 1),
             (select w.url from webhooks w where w.id = d.webhook_id)),
           d.claimed_by
    from deliveries d
    where d.id = any (${deliveryIds}) and d.claimed_by is not null
    on conflict do nothing`;
}

/** Writes the `desconhecido` row of each of these locked deliveries that is claimed. */
export async function logLostAttempts(tx: Tx, deliveryIds: readonly string[]): Promise<void> {
  await lostAttemptRows(tx, tx`${deliveryIds as string[]}::uuid[]`);
}

/**
 * Of a claim: books one failure on each delivery that is `due` and spent, instead of sending it. Its attempts were lost so
 * often in a row that a receiver which makes pollers die must not be tried for ever.
 */
export function bookedFailures(tx: Tx): Fragment {
  return tx`
    update deliveries d
    set failures = d.failures + 1,
        lost_in_row = 0,
        claimed_by = null,
        claimed_at = null,
        status = case when step.delay_s is null then 'erro' else 'pendente' end,
        next_attempt_at = step.now + step.delay_s * interval '1 second',
        finished_at = case when step.delay_s is null then step.now end
    from (
      select due.id, clock.now, (${[...RETRY_DELAYS_S]}::int[])[due.failures + 1] as delay_s
      from clock, due
      where due.is_spent
    ) step
    where d.id = step.id
    returning d.id, d.next_attempt_at`;
}
