import type { Pool, Tx } from '../../../db/pool.ts';
import { SUSPENDED_AT_ONCE, suspendUnclaimed } from '../orders/suspend.ts';

/** A page's further batches wait until the sweep is back at it. */
const BATCHES = 3;

/**
 * Suspends pending deliveries that keepers left, of up to `page` inactive webhooks after `cursor` (null: from the first). Returns the
 * number.
 */
export async function suspendLeft(
  pool: Pool,
  cursor: string | null,
  page: number,
  now: Date | null = null,
): Promise<number> {
  let suspended = 0;
  for (let batches = 0; batches < BATCHES; batches += 1) {
    const batch = await pool.transaction(async (tx) => suspendUnclaimed(tx, await findLeft(tx, cursor, page), now));
    suspended += batch;
    if (batch < SUSPENDED_AT_ONCE) break;
  }
  return suspended;
}

async function findLeft(tx: Tx, cursor: string | null, page: number): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    with page as materialized (
      select id, partner_id, active from webhooks
      where id > coalesce(${cursor}::uuid, '00000000-0000-0000-0000-000000000000')
      order by id
      limit ${page}
    )
    select page.id
    from page
    join partners p on p.id = page.partner_id
    cross join lateral (
      select from pending q where q.webhook_id = page.id order by q.due_at, q.delivery_id limit 1
    ) left_pending
    where not (page.active and p.active)`;
  return rows.map(({ id }) => id);
}
