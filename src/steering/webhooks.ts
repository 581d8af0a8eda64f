/** Webhooks as the operator reads them. Query strings of their URLs, which carry tokens, are masked. */
import { masked } from '../contract/masking.ts';
import type { Tx } from '../db/pool.ts';

export interface WebhookLine {
  readonly id: string;
  readonly partnerId: string;
  readonly partner: string;
  readonly url: string;
  readonly events: readonly string[];
  /** The webhook and its partner are. */
  readonly active: boolean;
  readonly cap: number;
  /** Its last attempt had no answer, so that it gets one at a time. */
  readonly silent: boolean;
  readonly mutedAt: Date | null;
  /** Since when it is `falhando`, so that it gets one at a time; null: it is not. */
  readonly failingSince: Date | null;
  /** Attempts that failed in the last hour. */
  readonly failedLastHour: number;
}

export interface WebhookFilter {
  readonly partnerId?: string | undefined;
  readonly id?: string | undefined;
  readonly state?: 'muted' | 'inactive' | 'failing' | 'falhando' | undefined;
}

/** The webhooks that fit, those that fail most first, then the oldest. */
export async function listWebhooks(sql: Tx, { partnerId, id, state }: WebhookFilter): Promise<WebhookLine[]> {
  const rows = await sql<WebhookLine[]>`
    with failing as materialized (
      select webhook_id, count(*)::int as failed
      from attempts
      where outcome <> 'entregue' and recorded_at > now() - interval '1 hour'
      group by webhook_id
    )
    select w.id, w.partner_id as "partnerId", p.name as partner, w.url, w.events, w.active and p.active as active,
           l.max_in_flight as cap, l.window_size = 1 as silent, l.muted_at as "mutedAt",
           l.failing_since as "failingSince",
           coalesce(f.failed, 0) as "failedLastHour"
    from webhooks w
    join partners p on p.id = w.partner_id
    cross join lateral (select * from lanes where webhook_id = w.id order by version desc limit 1) l
    left join failing f on f.webhook_id = w.id
    where (${partnerId ?? null}::uuid is null or w.partner_id = ${partnerId ?? null})
      and (${id ?? null}::uuid is null or w.id = ${id ?? null})
      and case ${state ?? 'any'}::text
            when 'muted' then l.muted_at is not null
            when 'inactive' then not (w.active and p.active)
            when 'failing' then f.failed > 0
            when 'falhando' then l.failing_since is not null
            else true end
    order by "failedLastHour" desc, w.id`;
  return rows.map((row) => Object.assign(row, { url: masked(row.url) }));
}

export interface WebhookCounts {
  readonly pending: number;
  readonly inFlight: number;
  readonly suspended: number;
  readonly failed: number;
  /** How long the oldest due delivery has been due; null when none is. */
  readonly oldestDueS: number | null;
}

interface WebhookHistoryLine {
  readonly changedAt: Date;
  readonly change: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly active: boolean;
}

export type ShownWebhook = WebhookLine & {
  readonly deliveries: WebhookCounts;
  /** The newest line first. */
  readonly history: readonly WebhookHistoryLine[];
};

/** Null when there is none of that id. */
export async function readWebhook(sql: Tx, id: string): Promise<ShownWebhook | null> {
  const [line] = await listWebhooks(sql, { id });
  if (line === undefined) return null;
  const history = await sql<WebhookHistoryLine[]>`
    select changed_at as "changedAt", change, actor, reason, active
    from webhook_history where webhook_id = ${id} order by position desc`;
  return { ...line, deliveries: await countDeliveries(sql, id), history };
}

/** How many deliveries of a webhook are in each state; those that arrived are not counted. */
export async function countDeliveries(sql: Tx, webhookId: string): Promise<WebhookCounts> {
  const [row] = await sql<[WebhookCounts]>`
    select pending.*, stopped.*
    from (
      select count(*)::float8 as pending, count(claimed_at)::float8 as "inFlight",
             extract(epoch from now() - min(next_attempt_at) filter (where claimed_at is null and next_attempt_at <= now()))::float8
               as "oldestDueS"
      from deliveries where webhook_id = ${webhookId} and status = 'pendente'
    ) pending
    cross join (
      select count(*) filter (where status = 'suspensa')::float8 as suspended,
             count(*) filter (where status = 'erro')::float8 as failed
      from deliveries where webhook_id = ${webhookId} and status in ('erro', 'suspensa')
    ) stopped`;
  return row;
}
