/** How many webhooks there are, and how many of them are in trouble; read as measure-queue.ts reads, in bounded looks. */
import type { Tx } from '../../db/pool.ts';
import type { Readings } from '../../telemetry/readings.ts';
import { cappedAt, COUNTED, states } from './measure-queue.ts';

const WEBHOOKS = 5_000;

interface WebhookRow {
  readonly active: number;
  readonly muted: number;
  readonly inactive: number;
  readonly looked: number;
  readonly failing: number;
  readonly saturated: number;
  readonly silent: number;
}

/**
 * Webhooks in trouble. With the policy for failing endpoints, those that are `falhando`, pending or not. Else those with something
 * pending whose delivery due last has failed before: a retry is due minutes after all that is new.
 */
export async function measureWebhooks(sql: Tx): Promise<Readings> {
  const [{ active, muted, inactive, looked, failing, saturated, silent }] = await sql<[WebhookRow]>`
    select registered.*, pending.*, case when policy.is_on then falhando.count else pending.retrying end as failing
    from (
      select greatest(kept.active - still.muted, 0) as active, still.muted, kept.inactive
      from (
        select count(*) filter (where active)::int as active, count(*) filter (where not active)::int as inactive
        from (select active from webhooks order by id limit ${COUNTED}) some_of_them
      ) kept
      cross join (
        select count(*)::int as muted
        from lanes held
        join webhooks w on w.id = held.webhook_id and w.active
        where (held.muted_at is not null or held.failing_since is not null) and held.muted_at is not null
      ) still
    ) registered
    cross join (
      select count(*)::int as looked, count(*) filter (where last.failures > 0)::int as retrying,
             count(*) filter (where flying.count >= least(lane.max_in_flight, floor(lane.window_size)))::int as saturated,
             count(*) filter (where lane.window_size = 1 and last.failures is not null)::int as silent
      from (
        select l.webhook_id, l.window_size, l.max_in_flight from waiting_lanes(${WEBHOOKS}) w join lanes l using (webhook_id)
      ) lane
      cross join lateral (
        select d.failures
        from (select delivery_id from pending where webhook_id = lane.webhook_id order by due_at desc, delivery_id desc limit 1) p
        join deliveries d on d.id = p.delivery_id
      ) last
      left join (select webhook_id, count(*) from flights() group by webhook_id) flying using (webhook_id)
    ) pending
    cross join (select exists (select from failing_policy) as is_on) policy
    cross join (
      select count(*)::int as count
      from (select webhook_id from failing_runs order by webhook_id limit ${COUNTED}) run
      join lanes lane using (webhook_id)
      where lane.failing_since is not null
    ) falhando`;
  return {
    webhooks: states({ active, muted, inactive, failing, saturated, silent }),
    capped: [
      ...cappedAt(COUNTED, { webhooks: active + muted + inactive }),
      ...cappedAt(WEBHOOKS, { webhooks_in_trouble: looked }),
    ],
  };
}
