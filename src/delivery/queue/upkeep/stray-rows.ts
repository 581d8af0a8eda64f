/**
 * The last part of the sweep: what only a bug, or a change by hand, leaves.
 *
 * Invariant: `pending` has a row of each delivery that is `pendente`, and of no other; both are written in one transaction, so one snapshot
 * tells. A row of another would be sent without being asked for, and keep its delivery from being sent again. It is deleted, and
 * counted; expected are 0.
 * A lane of which something has been due for long while nothing of it flies may merely be behind others. Its keeper reads it again, which
 * costs one look, and finds what it may have passed over.
 */
import type { Tx } from '../../../db/pool.ts';

/** A row of `pending`, by its key. */
export interface PendingPlace {
  readonly webhookId: string;
  readonly dueAt: string;
  readonly deliveryId: string;
}

const FIRST = '00000000-0000-0000-0000-000000000000';
const BEGINNING: PendingPlace = { webhookId: FIRST, dueAt: '-infinity', deliveryId: FIRST };
const DUE_FOR_S = 60;

/** Looks at a page of `pending` behind a place (null: from the start). Returns how many stray rows it deleted, and where to go on. */
export async function deleteStrayRows(
  tx: Tx,
  from: PendingPlace | null,
  page: number,
): Promise<{ readonly stray: number; readonly next: PendingPlace | null }> {
  const { webhookId, dueAt, deliveryId } = from ?? BEGINNING;
  const [row] = await tx<[{ stray: number; size: number; next: PendingPlace | null }]>`
    with page as materialized (
      select ctid as place, webhook_id, due_at, delivery_id from pending
      where (webhook_id, due_at, delivery_id) > (${webhookId}::uuid, ${dueAt}::text::timestamptz, ${deliveryId}::uuid)
      order by webhook_id, due_at, delivery_id
      limit ${page}
    ),
    deleted as (
      delete from pending
      where ctid = any (array(
        select page.place from page
        left join lateral (select status from deliveries where id = page.delivery_id limit 1) d on true
        where d.status is distinct from 'pendente'
      ))
      returning 1
    )
    select (select count(*) from deleted)::int as stray, (select count(*) from page)::int as size,
           (select json_build_object('webhookId', webhook_id, 'dueAt', due_at::text, 'deliveryId', delivery_id) from page
            order by webhook_id desc, due_at desc, delivery_id desc limit 1) as next`;
  return { stray: row.stray, next: row.size === page ? row.next : null };
}

/** Has the lanes of a page of webhooks behind `cursor` read again of which something has been due for long and nothing flies; returns how many. */
export async function wakeSleepers(tx: Tx, cursor: string | null, page: number): Promise<number> {
  const { count } = await tx`
    update lanes set changed = true
    where webhook_id = any (array(
      select w.id
      from (select id from webhooks where active and id > coalesce(${cursor}::uuid, ${FIRST}::uuid) order by id limit ${page}) w
      cross join lateral (
        select delivery_id from pending p where p.webhook_id = w.id and p.due_at <= now() order by p.due_at, p.delivery_id limit 1
      ) first
      cross join lateral (select next_attempt_at from deliveries where id = first.delivery_id limit 1) d
      where d.next_attempt_at < now() - ${DUE_FOR_S} * interval '1 second'
        and w.id <> all (array(select f.webhook_id from flights() f))
    )) and keeper is not null and muted_at is null and not changed`;
  return count;
}
