/** Webhook registrations: created with their secret and their first line of history, and listed without the secret. */
import { and, asc, eq, gt } from 'drizzle-orm';
import type { EmittedName } from '../contract/events.ts';
import { MAX_ACTIVE_WEBHOOKS, type WebhookResource } from '../contract/webhook.ts';
import type { Pool, Tx } from '../db/pool.ts';
import type { Queries } from '../db/queries.ts';
import { webhooks } from '../db/tables/partners.ts';
import { newSecret, type Vault } from './secrets.ts';

export interface NewWebhook {
  readonly partnerId: string;
  /** The normalised URL that the target check accepted. */
  readonly url: string;
  /** In the order the partner gave. */
  readonly events: readonly EmittedName[];
  /** `sub` of the token. */
  readonly actor: string;
  readonly requestId: string | null;
}

export type Creation =
  | { readonly ok: true; readonly webhook: WebhookResource; readonly secret: string }
  /** The partner already has {@link MAX_ACTIVE_WEBHOOKS} active registrations. */
  | { readonly limitReached: true };

/**
 * Creates a registration in the caller's transaction. The secret is in the result and, sealed, in the row; nowhere else.
 *
 * Creations of one partner queue on its row, or two of them could both count 49. NO KEY UPDATE leaves the partner's
 * appends alone, whose foreign keys take KEY SHARE on that row. Id and time are read after the lock, hence in list order.
 */
export async function createWebhook(tx: Tx, vault: Vault, request: NewWebhook): Promise<Creation> {
  const { partnerId, url, actor, requestId } = request;
  const events = [...request.events];
  await tx`select 1 from partners where id = ${partnerId} for no key update`;
  const [place] = await tx<[{ id: string; at: Date; active: number }]>`
    select uuidv7() as id, clock_timestamp()::timestamptz(3) as at,
           (select count(*)::int from webhooks where partner_id = ${partnerId} and active) as active`;
  if (place.active >= MAX_ACTIVE_WEBHOOKS) return { limitReached: true };

  const secret = newSecret();
  await tx`
    insert into webhooks (id, partner_id, url, events, sealed_secret, created_at)
    values (${place.id}, ${partnerId}, ${url}, ${events}, ${vault.seal(place.id, secret)}, ${place.at})`;
  await tx`
    insert into webhook_history (webhook_id, partner_id, url, events, active, actor, request_id, changed_at)
    values (${place.id}, ${partnerId}, ${url}, ${events}, true, ${actor}, ${requestId}, ${place.at})`;
  return {
    ok: true,
    webhook: { id: place.id, url, eventos: events, ativo: true, criado_em: place.at.toISOString() },
    secret,
  };
}

export interface WebhookList {
  readonly partnerId: string;
  /** Null: both. */
  readonly active: boolean | null;
  /** The last id of the page before. */
  readonly after: string | null;
  readonly limit: number;
}

/**
 * A page of the partner's registrations, oldest first, without their secrets (contract, "List webhooks"). Their ids are
 * UUIDv7, made under the partner's lock, so their order is that of creation. The active ones, at most
 * {@link MAX_ACTIVE_WEBHOOKS}, are one page; there is no bound on how many a partner has deactivated.
 */
export async function listWebhooks(
  queries: Queries,
  { partnerId, active, after, limit }: WebhookList,
): Promise<{ readonly webhooks: WebhookResource[]; readonly next: string | null }> {
  const { id, url, events, active: isActive, createdAt } = webhooks;
  const rows = await queries.run((database) =>
    database
      .select({ id, url, events, active: isActive, createdAt })
      .from(webhooks)
      .where(
        and(
          eq(webhooks.partnerId, partnerId),
          active === null ? undefined : eq(webhooks.active, active),
          after === null ? undefined : gt(id, after),
        ),
      )
      .orderBy(asc(id))
      .limit(limit + 1),
  );
  const page = rows.slice(0, limit);
  return { webhooks: page.map(viewWebhook), next: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}

/** A registration's row, without its secrets. */
export interface WebhookRow {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly active: boolean;
  readonly createdAt: Date;
}

/** The registration as the wire shows it: the contract's fields and no others. */
export function viewWebhook({ id, url, events, active, createdAt }: WebhookRow): WebhookResource {
  return { id, url, eventos: events as EmittedName[], ativo: active, criado_em: createdAt.toISOString() };
}

/** One registration of the partner, active or not; null when it has none of that id. */
export async function readWebhook(pool: Pool, partnerId: string, id: string): Promise<WebhookResource | null> {
  const [row] = await pool.run(
    (sql) => sql<WebhookRow[]>`
      select id, url, events, active, created_at as "createdAt"
      from webhooks where id = ${id} and partner_id = ${partnerId}`,
  );
  return row === undefined ? null : viewWebhook(row);
}

/** The ids of all the partner's registrations, active or not. */
export async function readWebhookIds(pool: Pool, partnerId: string): Promise<string[]> {
  const rows = await pool.run((sql) => sql<{ id: string }[]>`select id from webhooks where partner_id = ${partnerId}`);
  return rows.map(({ id }) => id);
}
