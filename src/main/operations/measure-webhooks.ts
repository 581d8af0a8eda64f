/** How many webhooks there are, and how many of them are in trouble; read as measure-queue.ts reads, in bounded looks. */
import type { Tx } from '../../db/pool.ts';
import type { Readings } from '../../telemetry/readings.ts';
import { cappedAt, COUNTED, states } from './measure-queue.ts';

/** Lanes with something pending that are looked at. */
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
 * How many webhooks are in trouble, of those with something pending. While the policy for failing endpoints is on, those are
 * failing that are `falhando`, pending or not. Otherwise one is failing when its delivery that is due last has failed before: a
 * retry is due minutes after all that is new.
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
        from (
          select distinct webhook_id from lanes where muted_at is not null or failing_since is not null
        ) held
        cross join lateral (
          select muted_at from lanes where lanes.webhook_id = held.webhook_id order by version desc limit 1
        ) newest
        join webhooks w on w.id = held.webhook_id and w.active
        where newest.muted_at is not null
      ) still
    ) registered
    cross join (
      select count(*)::int as looked, count(*) filter (where last.failures > 0)::int as retrying,
             count(*) filter (where lane.saturated and last.failures is not null)::int as saturated,
             count(*) filter (where lane.window_size = 1 and last.failures is not null)::int as silent
      from (
        select webhook_id, saturated, window_size from lanes
        where next_due_at is not null
        order by next_due_at
        limit ${WEBHOOKS}
      ) lane
      left join lateral (
        select d.failures
        from deliveries d
        where d.webhook_id = lane.webhook_id and d.status = 'pendente' and d.next_attempt_at < 'infinity'
        order by d.next_attempt_at desc
        limit 1
      ) last on true
    ) pending
    cross join (select exists (select from failing_policy) as is_on) policy
    cross join (
      select count(*)::int as count
      from (select webhook_id from failing_runs order by webhook_id limit ${COUNTED}) run
      cross join lateral (
        select failing_since from lanes where webhook_id = run.webhook_id order by version desc limit 1
      ) lane
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
