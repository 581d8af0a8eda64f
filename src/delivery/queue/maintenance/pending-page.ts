/**
 * The sweep's check of a page of `pending`. It reads pages in their order on disk, so its cost is bounded: in the order of the key it
 * would step over all dead rows.
 * Invariant: `pending` has a row for each `pendente` delivery and no other; both are written in one transaction, so one snapshot tells. An
 * extra row would be sent without an order and keep its delivery from being sent again. It is deleted and counted; 0 are expected.
 * A lane with work due for long and nothing in flight may merely be waiting for others. Its keeper reads it again, which costs one query.
 */
import type { Tx } from '../../../db/pool.ts';

const FIRST = '(0,0)';
const BLOCKS = 1_000;
const DUE_FOR_S = 60;

export interface PendingPage {
  /** Rows that it deleted. */
  readonly orphaned: number;
  /** Lanes that it has read again. */
  readonly woken: number;
  /** Webhooks that have something pending and are inactive, or whose partner is. */
  readonly inactive: readonly string[];
  /** Where the next page begins; null: at the start. */
  readonly next: string | null;
}

/** Looks at up to `rows` rows of `pending` behind a place (null: from the start). */
export async function checkPage(tx: Tx, from: string | null, rows: number): Promise<PendingPage> {
  const place = from ?? FIRST;
  const endBlock = Number.parseInt(place.slice(1), 10) + BLOCKS;
  const end = `(${endBlock},0)`;
  const [page] = await tx<[PendingPage]>`
    with page as materialized (
      select p.place, p.webhook_id, p.due_at, d.status, d.next_attempt_at
      from (
        select ctid as place, webhook_id, due_at, delivery_id from pending
        where ctid > ${place}::text::tid and ctid < ${end}::text::tid
        limit ${rows}
      ) p
      left join lateral (select status, next_attempt_at from deliveries where id = p.delivery_id limit 1) d on true
    ),
    deleted as (
      delete from pending where ctid = any (array(select place from page where status is distinct from 'pendente')) returning 1
    ),
    hook as materialized (
      select w.id, w.active and p.active as is_active, h.is_late
      from (
        select webhook_id, bool_or(due_at <= now() and next_attempt_at < now() - ${DUE_FOR_S} * interval '1 second') as is_late
        from page where status = 'pendente' group by webhook_id
      ) h
      cross join lateral (select id, partner_id, active from webhooks where id = h.webhook_id limit 1) w
      cross join lateral (select active from partners where id = w.partner_id limit 1) p
    ),
    woken as (
      update lanes set changed = true
      where webhook_id = any (array(
        select h.id
        from hook h
        cross join lateral (
          select from lanes l where l.webhook_id = h.id and l.keeper is not null and l.muted_at is null and not l.changed
          limit 1 for no key update skip locked
        ) lane
        where h.is_active and h.is_late and h.id <> all (array(select f.webhook_id from flights() f))
      ))
      returning 1
    )
    select (select count(*) from deleted)::int as orphaned, (select count(*) from woken)::int as woken,
           array(select id from hook where not is_active) as inactive,
           case
             when count(*) = ${rows} then max(place)::text
             when pg_relation_size('pending') > ${endBlock} * current_setting('block_size')::bigint then ${end}
           end as next
    from page`;
  return page;
}
