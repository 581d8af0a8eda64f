/**
 * Webhooks as operators read them; query strings of URLs are masked, because they carry tokens.
 * Each read is bounded: lists are paged by id, histories from the newest line, and counts end at {@link COUNTED}. Callers use
 * `readBounded`. Where an index has two columns, the order names both: with the second alone the planner may scan another index,
 * across other webhooks' rows.
 */
import { masked } from '../contract/masking/masking.ts';
import { COUNTED } from '../contract/resources/operator.ts';
import type { WebhookChange } from '../contract/statuses.ts';
import { FIRST_ID } from '../db/first-id.ts';
import type { Tx } from '../db/pool.ts';
import { readWebhookEnds, type WebhookEnds } from '../webhooks/certificates.ts';
import { HISTORY_PAGE, LIST_PAGE, NO_LINE, pageOf, type Page, type PageOf } from './bounds.ts';

/** A webhook without its attempts. */
export interface WebhookLine {
  readonly id: string;
  readonly partnerId: string;
  readonly partner: string;
  readonly url: string;
  readonly events: readonly string[];
  /** Both the webhook and its partner are. */
  readonly active: boolean;
  readonly cap: number;
  /** Its last attempt had no answer, so it gets one at a time. */
  readonly silent: boolean;
  readonly mutedAt: Date | null;
  /** Since when it is `falhando` (one delivery at a time); null: it is not. */
  readonly failingSince: Date | null;
}

export interface WebhookFilter {
  readonly partnerId?: string | undefined;
  readonly state?: 'muted' | 'inactive' | 'falhando' | undefined;
}

/** Webhooks that one page of a filtered list reads, at most. */
const MAX_SCANNED = 2_000;

/** Oldest first. Where few match, a page that is not the last may be short. */
export async function listWebhooks(
  sql: Tx,
  filter: WebhookFilter,
  { after = null, limit = LIST_PAGE }: Page = {},
): Promise<PageOf<WebhookLine>> {
  const most = filter.state === undefined ? limit + 1 : MAX_SCANNED;
  const ids = await findIds(sql, filter, after ?? FIRST_ID, most);
  const { partnerId, state } = filter;
  const fitting = (await readLines(sql, ids)).filter(
    (line) =>
      (partnerId === undefined || line.partnerId === partnerId) &&
      (state === undefined ||
        { muted: line.mutedAt !== null, inactive: !line.active, falhando: line.failingSince !== null }[state]),
  );
  const page = pageOf(fitting, limit, ({ id }) => id);
  return page.next === null && ids.length === most ? { ...page, next: ids.at(-1) ?? null } : page;
}

/** The next ids to filter, by the most selective index. */
async function findIds(sql: Tx, { partnerId, state }: WebhookFilter, after: string, most: number): Promise<string[]> {
  const rows =
    state === 'muted' || state === 'falhando'
      ? await sql<{ id: string }[]>`
          select webhook_id as id from lanes
          where ${state === 'muted' ? sql`muted_at is not null` : sql`failing_since is not null`} and webhook_id > ${after}
          order by webhook_id limit ${most}`
      : partnerId === undefined
        ? await sql<{ id: string }[]>`select id from webhooks where id > ${after} order by id limit ${most}`
        : await sql<{ id: string }[]>`
            select id from webhooks
            where (partner_id, id) > (${partnerId}, ${after}) and partner_id <= ${partnerId}
            order by partner_id, id limit ${most}`;
  return rows.map(({ id }) => id);
}

export async function readLines(sql: Tx, ids: readonly string[]): Promise<WebhookLine[]> {
  const rows = await sql<WebhookLine[]>`
    select w.id, w.partner_id as "partnerId", p.name as partner, w.url, w.events, w.active and p.active as active,
           l.max_in_flight as cap, l.window_size = 1 as silent, l.muted_at as "mutedAt",
           l.failing_since as "failingSince"
    from unnest(${ids as string[]}::uuid[]) with ordinality as asked (id, place)
    cross join lateral (select * from webhooks where id = asked.id limit 1) w
    cross join lateral (select * from partners where id = w.partner_id limit 1) p
    cross join lateral (select * from lanes where webhook_id = w.id) l
    order by asked.place`;
  return rows.map((row) => Object.assign(row, { url: masked(row.url) }));
}

/** At most {@link COUNTED} + 1 each, which stands for more. */
export interface WebhookCounts {
  readonly pending: number;
  /** Counted among the first due pending deliveries. */
  readonly inFlight: number;
  readonly suspended: number;
  readonly failed: number;
  /** For how long the oldest due delivery has been due; null when none is. */
  readonly oldestDueS: number | null;
}

interface WebhookHistoryLine {
  readonly changedAt: Date;
  readonly url: string;
  readonly events: readonly string[];
  readonly change: WebhookChange;
  readonly actor: string;
  readonly reason: string | null;
  readonly active: boolean;
}

export type ShownWebhook = WebhookLine &
  WebhookEnds & {
    readonly deliveries: WebhookCounts;
    /** Newest first. */
    readonly history: readonly WebhookHistoryLine[];
    /** Cursor of the next older lines; null when there are none. */
    readonly olderThan: string | null;
  };

/** With the lines of history before `before` (null: the newest). Null for an unknown id. */
export async function readWebhook(sql: Tx, id: string, before: string | null = null): Promise<ShownWebhook | null> {
  const [line] = await readLines(sql, [id]);
  if (line === undefined) return null;
  const { rows: history, next: olderThan } = await readHistory(sql, id, before);
  const ends = await readWebhookEnds(sql, id);
  return { ...line, ...ends, deliveries: await countDeliveries(sql, id), history, olderThan };
}

/** Before `before` (null: the newest), newest first. */
export async function readHistory(sql: Tx, id: string, before: string | null): Promise<PageOf<WebhookHistoryLine>> {
  const lines = await sql<(WebhookHistoryLine & { position: string })[]>`
    select position::text, changed_at as "changedAt", change, actor, reason, url, events, active
    from webhook_history
    where (webhook_id, position) < (${id}, ${before ?? NO_LINE}::bigint) and webhook_id >= ${id}
    order by webhook_id desc, webhook_history.position desc
    limit ${HISTORY_PAGE + 1}`;
  return pageOf(lines, HISTORY_PAGE, ({ position }) => position);
}

/** Due deliveries read for the oldest. */
const MAX_DUE_SCANNED = 64;

/** By status, except `entregue`. */
export async function countDeliveries(sql: Tx, webhookId: string): Promise<WebhookCounts> {
  const [row] = await sql<[WebhookCounts]>`
    select pending.*, ${stopped(sql, webhookId, 'suspensa')} as suspended, ${stopped(sql, webhookId, 'erro')} as failed
    from (
      select count(*)::int as pending, count(first.claimed_at)::int as "inFlight",
             (select extract(epoch from now() - min(due.next_attempt_at))::float8
              from lanes l cross join lateral waiting_of(l, now(), array(select delivery_id from flights()), ${MAX_DUE_SCANNED}) due
              where l.webhook_id = ${webhookId}) as "oldestDueS"
      from (
        select p.delivery_id, f.claimed_at
        from (
          select delivery_id, due_at from pending where webhook_id = ${webhookId} order by due_at, delivery_id limit ${COUNTED + 1}
        ) p
        left join flights() f on f.delivery_id = p.delivery_id
      ) first
    ) pending`;
  return row;
}

function stopped(sql: Tx, webhookId: string, status: 'suspensa' | 'erro') {
  return sql`(
    select count(*)::int from (
      select from deliveries
      where webhook_id = ${webhookId} and stopped = ${sql.unsafe(`'${status}'`)}
      order by event_id
      limit ${COUNTED + 1}
    ) counted
  )`;
}
