/**
 * The second half of the sweep: deliveries that wait for another of their loan, while no delivery of that loan is marked to
 * wake them (drizzle/functions/hold_back.sql). The expected count is 0, as of lanes. Each one found is made due, and judged
 * anew.
 * It walks the waiting deliveries by webhook and event, judges a bounded number at a time, and the caller remembers the place:
 * begun anew each time, it would never reach a stranded one behind many that wait rightly.
 * A step reads all waiting deliveries of each webhook on its page, because no index has them by event: with 30,000 waiting,
 * 31,000 to 61,000 index entries. A poller makes one step every half minute; an index would cost every append.
 */
import { FIRST_ID, LAST_ID } from '../../../db/first-id.ts';
import type { Tx } from '../../../db/pool.ts';
import { insertArrivals } from '../arrivals.ts';

const AT_ONCE = 1_000;

/** The last delivery that was looked at. */
export interface LoanPlace {
  readonly webhookId: string;
  readonly eventId: string;
}

export interface LoanSweep {
  readonly stranded: number;
  /** Where the walk goes on; null when it begins anew. */
  readonly place: LoanPlace | null;
}

/**
 * Looks at up to `atOnce` waiting deliveries, of as many webhooks, after `place` (null: from the first one), and wakes those
 * that are stranded.
 */
export async function wakeStrandedLoans(tx: Tx, place: LoanPlace | null, atOnce = AT_ONCE): Promise<LoanSweep> {
  const { webhookId, eventId } = place ?? { webhookId: FIRST_ID, eventId: LAST_ID };
  const [row] = await tx<[{ hooks: string[]; place: LoanPlace | null }]>`
    with page as materialized (
      select id, partner_id from webhooks where id >= ${webhookId} order by id limit ${atOnce}
    ),
    waiting as materialized (
      select d.*
      from page
      cross join lateral (
        select id, event_id, webhook_id, partner_id from deliveries
        where webhook_id = page.id and partner_id = page.partner_id and status = 'pendente'
          and next_attempt_at = 'infinity' and (page.id, event_id) > (${webhookId}::uuid, ${eventId}::uuid)
        order by event_id
        limit ${atOnce}
      ) d
      order by d.webhook_id, d.event_id
      limit ${atOnce}
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
    ),
    woken as (
      update deliveries
      set next_attempt_at = now()
      where id = any (array(
        select id from deliveries
        where id = any (array(select id from stranded)) and status = 'pendente' and next_attempt_at = 'infinity'
        for update skip locked
      ))
      returning webhook_id
    )
    select array(select webhook_id from woken) as hooks,
           case
             when (select count(*) from waiting) = ${atOnce} then (
               select json_build_object('webhookId', webhook_id, 'eventId', event_id)
               from waiting order by webhook_id desc, event_id desc limit 1
             )
             when (select count(*) from page) = ${atOnce} then (
               select json_build_object('webhookId', id, 'eventId', ${LAST_ID}::text) from page order by id desc limit 1
             )
           end as place`;
  await insertArrivals(tx, row.hooks);
  return { stranded: row.hooks.length, place: row.place };
}
