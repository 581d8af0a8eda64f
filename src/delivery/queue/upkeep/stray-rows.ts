/**
 * The last part of the sweep: what only a bug or a change by hand leaves.
 * Invariant: `pending` has a row for each `pendente` delivery and no other; both are written in one transaction, so one snapshot tells.
 * Another row would be sent unasked and keep its delivery from being sent again. It is deleted and counted; expected are 0.
 * A lane with work due for long and nothing in flight may merely be behind others. Its keeper reads it again, which costs one look.
 */
import type { Tx } from '../../../db/pool.ts';

export interface PendingPlace {
  readonly webhookId: string;
  readonly dueAt: string;
  readonly deliveryId: string;
}

const FIRST = '00000000-0000-0000-0000-000000000000';
const BEGINNING: PendingPlace = { webhookId: FIRST, dueAt: '-infinity', deliveryId: FIRST };
const DUE_FOR_S = 60;

/** Checks a page of `pending` behind a place (null: from the start). Returns how many stray rows it deleted, and the next place. */
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

/**
 * Has the keepers read again the lanes, of a page of webhooks behind `cursor`, with work due for long and nothing in flight. Returns the
 * number.
 */
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
      cross join lateral (
        select from lanes l where l.webhook_id = w.id and l.keeper is not null and l.muted_at is null and not l.changed
        limit 1 for no key update skip locked
      ) lane
      where d.next_attempt_at < now() - ${DUE_FOR_S} * interval '1 second'
        and w.id <> all (array(select f.webhook_id from flights() f))
    ))`;
  return count;
}
