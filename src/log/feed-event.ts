import { TEST_NAME } from '../contract/delivery.ts';
import type { Pool } from '../db/pool.ts';
import type { FedEvent } from './feed.ts';

/** Null when no event of that id was emitted for the partner; the feed has no tests and no internal facts. */
export async function readFeedEvent(pool: Pool, partnerId: string, id: string): Promise<FedEvent | null> {
  const [row] = await pool.run(
    (sql) => sql<FedEvent[]>`
      select m.event_id as id, m.body, e.imported, m.salt is null as "isErased", m.loan_version as "loanVersion",
             case when m.loan_version is not null then e.stream end as "loanId",
             (select coalesce(json_agg(json_build_object('id', d.id, 'webhook_id', d.webhook_id, 'status', d.status)
                                       order by d.id), '[]')
              from deliveries d
              where d.webhook_id = any (array(select w.id from webhooks w where w.partner_id = ${partnerId}))
                and d.partner_id = ${partnerId} and d.event_id = e.id) as deliveries
      from events e
      join messages m on m.event_id = e.id
      where e.id = ${id} and e.partner_id = ${partnerId} and e.type <> ${TEST_NAME}`,
  );
  return row ?? null;
}
