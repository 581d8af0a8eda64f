/**
 * The second half of the sweep: deliveries that wait for another of their loan, while none of it is marked that will wake
 * them (drizzle/functions/hold_back.sql). The expected count is 0, as of lanes; what is found is made due, and judged anew.
 * Of each webhook a bounded number is looked at; those behind them have their turn when the first ones are gone.
 */
import type { Tx } from '../../../db/pool.ts';
import { insertArrivals } from '../arrivals.ts';

const LOOKED_AT = 200;

/** Wakes those of up to `page` webhooks after `cursor` (null: from the first one); returns how many. */
export async function wakeStrandedLoans(tx: Tx, cursor: string | null, page: number): Promise<number> {
  const rows = await tx<{ webhookId: string }[]>`
    with page as materialized (
      select id, partner_id from webhooks
      where id > coalesce(${cursor}::uuid, '00000000-0000-0000-0000-000000000000')
      order by id
      limit ${page}
    ),
    waiting as materialized (
      select d.*
      from page
      cross join lateral (
        select id, event_id, webhook_id, partner_id from deliveries
        where webhook_id = page.id and partner_id = page.partner_id and status = 'pendente'
          and next_attempt_at = 'infinity'
        limit ${LOOKED_AT}
      ) d
    ),
    stranded as materialized (
      select waiting.id
      from waiting
      where not exists (
        select
        from events mine
        join events e on e.stream = mine.stream
        cross join lateral (
          select status, next_attempt_at, awaited
          from deliveries
          where webhook_id = waiting.webhook_id and event_id = e.id and partner_id = waiting.partner_id
          limit 1
        ) o
        where mine.id = waiting.event_id and o.status = 'pendente' and o.awaited and o.next_attempt_at <> 'infinity'
      )
    )
    update deliveries
    set next_attempt_at = now()
    where id = any (array(
      select id from deliveries
      where id = any (array(select id from stranded)) and status = 'pendente' and next_attempt_at = 'infinity'
      for update skip locked
    ))
    returning webhook_id as "webhookId"`;
  await insertArrivals(
    tx,
    rows.map(({ webhookId }) => webhookId),
  );
  return rows.length;
}
