/** Webhooks: created with their secret and their first line of history, and listed without the secret. */
import type { SubscribableName } from '../contract/events.ts';
import type { Result } from '../contract/refusals.ts';
import { MAX_ACTIVE_WEBHOOKS, type WebhookResource } from '../contract/resources/webhook.ts';
import { FIRST_ID } from '../db/first-id.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { lockPartner } from '../db/partner-lock.ts';
import { type Subject, type WebhookRow, writeHistory } from './history.ts';
import { isKeyRetired } from './encryption-keys.ts';
import { newSecret, type Vault } from './secrets.ts';

export interface NewWebhook extends Omit<Subject, 'id'> {
  /** The normalised URL that the target check accepted. */
  readonly url: string;
  /** In the order the partner gave. */
  readonly events: readonly SubscribableName[];
}

/**
 * Creates a webhook in the caller's transaction. The secret is in the result and, encrypted, in the row; nowhere else.
 *
 * Creations of one partner queue on its row; otherwise two could both count 49. NO KEY UPDATE leaves alone those that only refer to
 * the row. Id and time are read after the lock, so they are in list order.
 */
export async function createWebhook(
  tx: Tx,
  vault: Vault,
  request: NewWebhook,
): Promise<Result<{ readonly webhook: WebhookResource; readonly secret: string }, 'webhookLimit' | 'keyRetired'>> {
  if (await isKeyRetired(tx, vault)) return { refused: { kind: 'keyRetired' } };
  const { partnerId, url } = request;
  const events = [...request.events];
  await lockPartner(tx, partnerId);
  const [begun] = await tx<[{ id: string; at: Date; active: number }]>`
    select uuidv7() as id, clock_timestamp()::timestamptz(3) as at,
           (select count(*)::int from webhooks where partner_id = ${partnerId} and active) as active`;
  if (begun.active >= MAX_ACTIVE_WEBHOOKS) return { refused: { kind: 'webhookLimit' } };

  const secret = newSecret();
  const encrypted = vault.encrypt(begun.id, secret);
  await tx`
    insert into webhooks (id, partner_id, url, events, encrypted_secret, created_at, refusals)
    values (${begun.id}, ${partnerId}, ${url}, ${events}, ${encrypted}, ${begun.at}, 0)`;
  const row = { id: begun.id, url, events, active: true, createdAt: begun.at };
  await writeHistory(tx, begun.id, 'criacao', { ...request, at: begun.at });
  return { ok: { webhook: viewWebhook(row), secret } };
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
 * A page of the partner's webhooks, oldest first, without secrets: UUIDv7 made under the partner's lock sort by creation. The
 * active ones, at most {@link MAX_ACTIVE_WEBHOOKS}, are one page; deactivated ones have no bound.
 */
export async function listWebhooks(
  pool: Pool,
  { partnerId, active, after, limit }: WebhookList,
): Promise<{ readonly webhooks: WebhookResource[]; readonly next: string | null }> {
  const rows = await pool.run(
    (tx) => tx<WebhookRow[]>`
      select id, url, events, active, created_at as "createdAt"
      from webhooks
      where partner_id = ${partnerId} and id > ${after ?? FIRST_ID} ${whichOf(tx, active)}
      order by id
      limit ${limit + 1}`,
  );
  const page = rows.slice(0, limit);
  return { webhooks: page.map(viewWebhook), next: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}

/** SQL and not a value, so that a plan of any value can use the index of the active ones. */
function whichOf(tx: Tx, active: boolean | null) {
  if (active === null) return tx``;
  return active ? tx`and active` : tx`and not active`;
}

/** The webhook as the wire shows it: these fields and no others. */
export function viewWebhook({ id, url, events, active, createdAt }: WebhookRow): WebhookResource {
  return { id, url, eventos: events as SubscribableName[], ativo: active, criado_em: createdAt.toISOString() };
}

/** One webhook of the partner, active or not; null when it has none of that id. */
export async function readWebhook(pool: Pool, partnerId: string, id: string): Promise<WebhookResource | null> {
  const [row] = await pool.run(
    (tx) => tx<WebhookRow[]>`
      select id, url, events, active, created_at as "createdAt"
      from webhooks where id = ${id} and partner_id = ${partnerId}`,
  );
  return row === undefined ? null : viewWebhook(row);
}

/** Active or not, in the order of their ids. */
export async function readWebhookIds(sql: Tx, partnerId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from webhooks where partner_id = ${partnerId} order by id`;
  return rows.map(({ id }) => id);
}
