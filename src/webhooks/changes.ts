/**
 * Changes of a registration: its URL, its events, whether it is active, its secret.
 *
 * Invariant: every change and its line of history commit together, and a partner never has more than
 * {@link MAX_ACTIVE_WEBHOOKS} active registrations: whoever makes one active first locks the partner's row, as the
 * creation does. Appends lock neither row; each sees the registrations as one snapshot shows them, which history can
 * prove later. What a change repeats is no change and leaves no line.
 * A rotation keeps one secret before the newest. While that one still signs, another rotation is refused: it would turn
 * away, without a word, the receivers that still have it. The partner ends it first, or waits.
 */
import { PREVIOUS_SECRET_H } from '../contract/delivery.ts';
import type { EmittedName } from '../contract/events.ts';
import type { WebhookChange } from '../contract/statuses.ts';
import { MAX_ACTIVE_WEBHOOKS, type WebhookResource } from '../contract/webhook.ts';
import type { Tx } from '../db/pool.ts';
import { viewWebhook, type WebhookRow } from './registrations.ts';
import { newSecret, type Vault } from './secrets.ts';

/** Which registration, and who asks. */
export interface Subject {
  readonly partnerId: string;
  readonly id: string;
  /** `sub` of the token. */
  readonly actor: string;
  readonly requestId: string | null;
}

export interface Wanted {
  /** The normalised URL that the target check accepted. */
  readonly url?: string | undefined;
  readonly events?: readonly EmittedName[] | undefined;
  readonly active?: boolean | undefined;
}

export type Changed = { readonly webhook: WebhookResource } | { readonly limitReached: true };

/** Changes a registration in the caller's transaction; null when the partner has none of that id. */
export async function changeWebhook(tx: Tx, subject: Subject, wanted: Wanted): Promise<Changed | null> {
  const { partnerId, id } = subject;
  if (wanted.active === true) await tx`select 1 from partners where id = ${partnerId} for no key update`;
  const before = await lockWebhook(tx, subject);
  if (before === null) return null;
  const after = {
    ...before,
    url: wanted.url ?? before.url,
    events: [...(wanted.events ?? before.events)],
    active: wanted.active ?? before.active,
  };
  if (after.active && !before.active && (await countActive(tx, partnerId)) >= MAX_ACTIVE_WEBHOOKS) {
    return { limitReached: true };
  }
  const change = changeOf(before, after);
  if (change !== null) {
    await tx`
      update webhooks set url = ${after.url}, events = ${after.events}, active = ${after.active} where id = ${id}`;
    await writeHistory(tx, subject, change);
  }
  return { webhook: viewWebhook(after) };
}

export type Rotation =
  | {
      readonly secret: string;
      /** The secret as it lies in the row. */
      readonly sealed: Buffer;
      readonly previousUntil: Date;
    }
  /** The secret before a rotation still signs. */
  | { readonly previousSignsUntil: Date };

/** Gives a registration a new secret; the one before goes on signing too. Null when the partner has none of that id. */
export async function rotateSecret(tx: Tx, vault: Vault, subject: Subject): Promise<Rotation | null> {
  const { id } = subject;
  if ((await lockWebhook(tx, subject)) === null) return null;
  const [{ until }] = await tx<[{ until: Date | null }]>`
    select case when previous_until > clock_timestamp() then previous_until end as until from webhooks where id = ${id}`;
  if (until !== null) return { previousSignsUntil: until };
  const secret = newSecret();
  const sealed = vault.seal(id, secret);
  const [row] = await tx<[{ previousUntil: Date }]>`
    update webhooks
    set previous_sealed_secret = sealed_secret,
        previous_until = clock_timestamp() + ${PREVIOUS_SECRET_H} * interval '1 hour',
        sealed_secret = ${sealed}
    where id = ${id}
    returning previous_until as "previousUntil"`;
  await writeHistory(tx, subject, 'segredo_trocado');
  return { secret, sealed, previousUntil: row.previousUntil };
}

/** Ends the secret before the last rotation now. False when the partner has no registration of that id. */
export async function endPreviousSecret(tx: Tx, subject: Subject): Promise<boolean> {
  if ((await lockWebhook(tx, subject)) === null) return false;
  const rows = await tx`
    update webhooks set previous_sealed_secret = null, previous_until = null
    where id = ${subject.id} and previous_until is not null
    returning id`;
  if (rows.length > 0) await writeHistory(tx, subject, 'segredo_anterior_encerrado');
  return true;
}

async function lockWebhook(tx: Tx, { id, partnerId }: Subject): Promise<WebhookRow | null> {
  const [row] = await tx<WebhookRow[]>`
    select id, url, events, active, created_at as "createdAt"
    from webhooks where id = ${id} and partner_id = ${partnerId}
    for no key update`;
  return row ?? null;
}

async function countActive(tx: Tx, partnerId: string): Promise<number> {
  const [row] = await tx<[{ active: number }]>`
    select count(*)::int as active from webhooks where partner_id = ${partnerId} and active`;
  return row.active;
}

function changeOf(before: WebhookRow, after: WebhookRow): WebhookChange | null {
  if (before.active !== after.active) return after.active ? 'reativacao' : 'desativacao';
  const isSame = before.url === after.url && before.events.join() === after.events.join();
  return isSame ? null : 'alteracao';
}

async function writeHistory(tx: Tx, { id, actor, requestId }: Subject, change: WebhookChange): Promise<void> {
  await tx`
    insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor, request_id, changed_at)
    select id, partner_id, url, events, active, ${change}, ${actor}, ${requestId}, clock_timestamp()
    from webhooks where id = ${id}`;
}
