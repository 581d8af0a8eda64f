/** What an id that somebody has at hand names: a delivery of the partner, an event that was sent to it, or a loan. */
import type { Pool } from '../../db/pool.ts';

export type Named = { readonly delivery: string } | { readonly event: string } | { readonly loan: string };

/** Null when it names nothing of this partner's. */
export async function findNamed(pool: Pool, partnerId: string, id: string): Promise<Named | null> {
  const [row] = await pool.run(
    (sql) => sql<[{ delivery: boolean; event: boolean; loan: boolean }]>`
      select exists (select from deliveries where id = ${id} and partner_id = ${partnerId}) as delivery,
             exists (select from messages where event_id = ${id} and partner_id = ${partnerId}) as event,
             exists (select from events where stream = ${id} and partner_id = ${partnerId}) as loan`,
  );
  if (row?.delivery) return { delivery: id };
  if (row?.event) return { event: id };
  return row?.loan ? { loan: id } : null;
}

export interface DeliveryOfEvent {
  readonly id: string;
  readonly webhookId: string;
  readonly status: 'pendente' | 'entregue' | 'erro' | 'suspensa';
  readonly attempts: number;
}

/** The deliveries that an event of the partner caused, at most one for each of its webhooks. */
export async function readDeliveriesOfEvent(
  pool: Pool,
  partnerId: string,
  eventId: string,
): Promise<DeliveryOfEvent[]> {
  return pool.run(
    (sql) => sql<DeliveryOfEvent[]>`
      select d.id, d.webhook_id as "webhookId", d.status, d.attempts
      from deliveries d
      where d.webhook_id = any (array(select id from webhooks where partner_id = ${partnerId}))
        and d.event_id = ${eventId}
      order by d.id`,
  );
}

/** The deliveries that a loan's events caused, by event. */
export async function readDeliveriesOfLoan(
  pool: Pool,
  partnerId: string,
  loanId: string,
): Promise<(DeliveryOfEvent & { readonly eventId: string })[]> {
  return pool.run(
    (sql) => sql<(DeliveryOfEvent & { readonly eventId: string })[]>`
      select d.id, d.event_id as "eventId", d.webhook_id as "webhookId", d.status, d.attempts
      from deliveries d
      where d.webhook_id = any (array(select id from webhooks where partner_id = ${partnerId}))
        and d.event_id = any (array(select id from events where stream = ${loanId} and partner_id = ${partnerId}))
      order by d.id`,
  );
}
