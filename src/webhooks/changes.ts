/**
 * Changes of a registration: its URL, its events, whether it is active, its secret.
 *
 * Invariant: every change and its line of history commit together, and a partner never has more than
 * {@link MAX_ACTIVE_WEBHOOKS} active registrations: whoever makes one active first locks the partner's row, as the
 * creation does. Appends lock neither row; each sees the registrations as one snapshot shows them, which history can
 * prove later. What a change repeats is no change and leaves no line.
 * A rotation keeps one secret before the newest. While that one still signs, or the newest waits for its time, another
 * rotation is refused: it would turn away, without a word, the receivers that have one of them. The partner ends the one
 * before, or drops the one that waits, or lets the time pass.
 * A new secret that waits needs nobody to make it sign: each claim compares its time with the clock (`claim_due`).
 */
import { PREVIOUS_SECRET_H } from '../contract/delivery.ts';
import type { EmittedName } from '../contract/events.ts';
import type { WebhookChange } from '../contract/statuses.ts';
import { MAX_ACTIVE_WEBHOOKS, MAX_WAIT_H, type WebhookResource } from '../contract/webhook.ts';
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
      readonly signsFrom: Date;
      readonly previousUntil: Date;
    }
  /** A new secret waits already. */
  | { readonly waitsUntil: Date }
  /** The secret before a rotation still signs. */
  | { readonly previousSignsUntil: Date }
  /** `signsFrom` has passed, or is more than {@link MAX_WAIT_H} hours ahead. */
  | { readonly outOfRange: true };

/**
 * Gives a registration, active or not, a new secret. It signs from `signsFrom` on, with the one before beside it; until
 * then that one signs alone. Null: it signs at once. Answers null when the partner has no registration of that id.
 */
export async function rotateSecret(
  tx: Tx,
  vault: Vault,
  subject: Subject,
  signsFrom: Date | null,
): Promise<Rotation | null> {
  const { id } = subject;
  if ((await lockWebhook(tx, subject)) === null) return null;
  const { now, waitsUntil, previousSignsUntil } = await readSecrets(tx, id);
  if (signsFrom !== null && (signsFrom < now || signsFrom.getTime() > now.getTime() + MAX_WAIT_H * 3_600_000)) {
    return { outOfRange: true };
  }
  if (waitsUntil !== null) return { waitsUntil };
  if (previousSignsUntil !== null) return { previousSignsUntil };
  const secret = newSecret();
  const sealed = vault.seal(id, secret);
  const [row] = await tx<[{ signsFrom: Date; previousUntil: Date }]>`
    update webhooks
    set previous_sealed_secret = sealed_secret,
        previous_until = coalesce(${signsFrom}::timestamptz, clock_timestamp()) + ${PREVIOUS_SECRET_H} * interval '1 hour',
        signs_from = ${signsFrom},
        sealed_secret = ${sealed}
    where id = ${id}
    returning previous_until - ${PREVIOUS_SECRET_H} * interval '1 hour' as "signsFrom", previous_until as "previousUntil"`;
  await writeHistory(tx, subject, signsFrom === null ? 'segredo_trocado' : 'segredo_agendado', signsFrom);
  return { secret, sealed, ...row };
}

/**
 * Ends the wait of a new secret: it signs from now on. Said again while the one before still signs, it changes nothing.
 * `none`: there is no such secret. Null when the partner has no registration of that id.
 */
export async function activateSecret(
  tx: Tx,
  subject: Subject,
): Promise<{ readonly previousUntil: Date } | 'none' | null> {
  const { id } = subject;
  if ((await lockWebhook(tx, subject)) === null) return null;
  const { waitsUntil, previousSignsUntil } = await readSecrets(tx, id);
  if (waitsUntil === null) return previousSignsUntil === null ? 'none' : { previousUntil: previousSignsUntil };
  const [row] = await tx<[{ previousUntil: Date }]>`
    update webhooks
    set signs_from = null, previous_until = clock_timestamp() + ${PREVIOUS_SECRET_H} * interval '1 hour'
    where id = ${id}
    returning previous_until as "previousUntil"`;
  await writeHistory(tx, subject, 'segredo_ativado');
  return row;
}

/** Drops a new secret that waits. `signs`: it signs already. Null when the partner has no registration of that id. */
export async function discardSecret(tx: Tx, subject: Subject): Promise<'dropped' | 'signs' | null> {
  const { id } = subject;
  if ((await lockWebhook(tx, subject)) === null) return null;
  const { waitsUntil, previousSignsUntil } = await readSecrets(tx, id);
  if (waitsUntil === null) return previousSignsUntil === null ? 'dropped' : 'signs';
  await tx`
    update webhooks
    set sealed_secret = previous_sealed_secret, signs_from = null, previous_sealed_secret = null, previous_until = null
    where id = ${id}`;
  await writeHistory(tx, subject, 'segredo_descartado');
  return 'dropped';
}

/**
 * Ends the secret before the last rotation now. While the new one waits that would leave none to sign with, so it is
 * refused. Null when the partner has no registration of that id.
 */
export async function endPreviousSecret(
  tx: Tx,
  subject: Subject,
): Promise<'ended' | { readonly waitsUntil: Date } | null> {
  if ((await lockWebhook(tx, subject)) === null) return null;
  const { waitsUntil } = await readSecrets(tx, subject.id);
  if (waitsUntil !== null) return { waitsUntil };
  const rows = await tx`
    update webhooks set previous_sealed_secret = null, previous_until = null, signs_from = null
    where id = ${subject.id} and previous_until is not null
    returning id`;
  if (rows.length > 0) await writeHistory(tx, subject, 'segredo_anterior_encerrado');
  return 'ended';
}

interface Secrets {
  readonly now: Date;
  /** From when the new secret signs; null when none waits. */
  readonly waitsUntil: Date | null;
  /** Until when the one before signs beside the new one; null when it signs alone, or no longer. */
  readonly previousSignsUntil: Date | null;
}

/** How the secrets of a locked registration stand, by the clock that claims go by. */
async function readSecrets(tx: Tx, id: string): Promise<Secrets> {
  const [row] = await tx<[Secrets]>`
    select now, case when waits then signs_from end as "waitsUntil",
           case when not waits and previous_until > now then previous_until end as "previousSignsUntil"
    from (
      select clock.now, signs_from, previous_until, coalesce(signs_from > clock.now, false) as waits
      from webhooks, (select clock_timestamp() as now) clock
      where id = ${id}
    ) secrets`;
  return row;
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

async function writeHistory(
  tx: Tx,
  { id, actor, requestId }: Subject,
  change: WebhookChange,
  takesEffectAt: Date | null = null,
): Promise<void> {
  await tx`
    insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor, request_id, changed_at,
                                 takes_effect_at)
    select id, partner_id, url, events, active, ${change}, ${actor}, ${requestId}, clock_timestamp(), ${takesEffectAt}
    from webhooks where id = ${id}`;
}
