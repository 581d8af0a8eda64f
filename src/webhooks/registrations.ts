/** Webhook registrations: created with their secret and their first line of history, and listed without the secret. */
import { and, asc, eq } from 'drizzle-orm';
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

/** The partner's active registrations, oldest first, without their secrets (contract, "List webhooks"). */
export async function listWebhooks(queries: Queries, partnerId: string): Promise<WebhookResource[]> {
  const rows = await queries.run((database) =>
    database
      .select({ id: webhooks.id, url: webhooks.url, events: webhooks.events, createdAt: webhooks.createdAt })
      .from(webhooks)
      .where(and(eq(webhooks.partnerId, partnerId), eq(webhooks.active, true)))
      .orderBy(asc(webhooks.createdAt), asc(webhooks.id))
      .limit(MAX_ACTIVE_WEBHOOKS),
  );
  return rows.map((row) => viewWebhook({ ...row, active: true }));
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
