/** Backlogs written straight into the outbox, in the form that append_event gives them: a million in seconds. */
import type { Sql } from '../../src/db/pool.ts';
import type { BenchWebhook } from './carteiro.ts';
import { dataOf, EVENT } from './workload.ts';

const ROWS_A_COMMIT = 50_000;

/** `count` due deliveries of one webhook, each of an event of its own. */
export async function insertBacklog(sql: Sql, webhook: BenchWebhook, count: number): Promise<void> {
  for (let done = 0; done < count; done += ROWS_A_COMMIT) {
    const rows = Math.min(ROWS_A_COMMIT, count - done);
    await sql`
      with event as materialized (select uuidv7() as id from generate_series(1, ${rows}::int)),
      delivery as (
        insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
        select id, ${webhook.id}, ${webhook.partnerId}, clock_timestamp() from event
        returning id, event_id, webhook_id, partner_id
      ),
      queued as (
        insert into pending (webhook_id, delivery_id, event_id, partner_id) select webhook_id, id, event_id, partner_id from delivery
      )
      insert into events (id, stream, version, type, partner_id, data, occurred_at, actor, fan_out, seen)
      select id, id, 1, ${EVENT}, ${webhook.partnerId}, replace(${dataOf('$')}, '$', id::text)::json, now(), 'bench', 1,
             pg_current_snapshot()
      from event`;
  }
}

/** One event for each partner of these webhooks, and for each webhook a due delivery and its wake row. */
export async function insertFanOut(sql: Sql, webhookIds: readonly string[]): Promise<void> {
  await sql`
    with event as materialized (
      select uuidv7() as id, partner_id, array_agg(id) as hooks
      from webhooks where id = any (${webhookIds as string[]}::uuid[])
      group by partner_id
    ),
    delivery as (
      insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
      select event.id, unnest(hooks), partner_id, now() from event
      returning id, event_id, webhook_id, partner_id
    ),
    queued as (
      insert into pending (webhook_id, delivery_id, event_id, partner_id) select webhook_id, id, event_id, partner_id from delivery
    )
    insert into events (id, stream, version, type, partner_id, data, occurred_at, actor, fan_out, seen)
    select id, id, 1, ${EVENT}, partner_id, replace(${dataOf('$')}, '$', id::text)::json, now(), 'bench', cardinality(hooks),
           pg_current_snapshot()
    from event`;
}
