/**
 * Changes of a webhook's secret: a new one that signs at once or later, and the end of the previous one.
 *
 * Invariant: every change commits with its line of history; a change to the same values leaves none. A rotation keeps one previous
 * secret. While that signs, or the new one waits, another rotation is refused: it would turn away receivers that have only one of
 * the two. The partner may end the previous secret, drop the waiting one, or let the time pass. Each claim compares a waiting
 * secret's time with the clock (`claim_due`).
 */
import { PREVIOUS_SECRET_H } from '../contract/delivery.ts';
import { NOT_FOUND, type Result } from '../contract/refusals.ts';
import { MAX_WAIT_H, type SecretState } from '../contract/resources/webhook.ts';
import { FIRST_ID } from '../db/first-id.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { lockWebhook, type Subject, writeHistory } from './history.ts';
import { lockForOperator, type Operator } from './muting.ts';
import { isKeyRetired } from './encryption-keys.ts';
import { newSecret, tryDecrypt, type Vault } from './secrets.ts';

export interface Rotation {
  readonly secret: string;
  readonly encrypted: Buffer;
  readonly signsFrom: Date;
  readonly previousUntil: Date;
}

export type RotationRefusal =
  | 'notFound'
  | 'keyRetired'
  | 'signingTimeOutOfRange'
  | 'newSecretWaits'
  | 'previousSecretSigns';

/**
 * Gives a webhook, active or not, a new secret, which signs from `signsFrom` on (at most {@link MAX_WAIT_H} hours ahead; null: at
 * once), beside the previous one. Until then the previous one signs alone.
 */
export async function rotateSecret(
  tx: Tx,
  vault: Vault,
  subject: Subject,
  signsFrom: Date | null,
): Promise<Result<Rotation, RotationRefusal>> {
  const { id } = subject;
  if (await isKeyRetired(tx, vault)) return { refused: { kind: 'keyRetired' } };
  const secrets = await lockSecrets(tx, subject);
  if (secrets === null) return NOT_FOUND;
  const { now, waitsUntil, previousSignsUntil } = secrets;
  if (signsFrom !== null && (signsFrom < now || signsFrom.getTime() > now.getTime() + MAX_WAIT_H * 3_600_000)) {
    return { refused: { kind: 'signingTimeOutOfRange' } };
  }
  if (waitsUntil !== null) return { refused: { kind: 'newSecretWaits', until: waitsUntil } };
  if (previousSignsUntil !== null) return { refused: { kind: 'previousSecretSigns', until: previousSignsUntil } };
  const secret = newSecret();
  const encrypted = vault.encrypt(id, secret);
  const [row] = await tx<[{ signsFrom: Date; previousUntil: Date }]>`
    update webhooks
    set previous_encrypted_secret = encrypted_secret, encrypted_secret = ${encrypted}, signs_from = ${signsFrom},
        previous_until = coalesce(${signsFrom}::timestamptz, clock_timestamp()) + ${PREVIOUS_SECRET_H} * interval '1 hour'
    where id = ${id}
    returning previous_until - ${PREVIOUS_SECRET_H} * interval '1 hour' as "signsFrom", previous_until as "previousUntil"`;
  const change = signsFrom === null ? 'segredo_trocado' : 'segredo_agendado';
  await writeHistory(tx, id, change, { ...subject, takesEffectAt: signsFrom });
  return { ok: { secret, encrypted, ...row } };
}

/** A new secret that signs at once. The one before signs beside it if it can be opened; else `previousUntil` is null. */
export async function replaceSecret(
  tx: Tx,
  vault: Vault,
  id: string,
  operator: Operator,
): Promise<Result<{ readonly secret: string; readonly previousUntil: Date | null }, 'notFound' | 'keyRetired'>> {
  if (await isKeyRetired(tx, vault)) return { refused: { kind: 'keyRetired' } };
  if ((await lockForOperator(tx, id)) === null) return NOT_FOUND;
  const [{ signing }] = await tx<
    [{ signing: Buffer }]
  >`select ${signingSecret(tx)} as signing from webhooks where id = ${id}`;
  const previous = tryDecrypt(vault, id, signing) === null ? null : signing;
  const secret = newSecret();
  const [{ previousUntil }] = await tx<[{ previousUntil: Date | null }]>`
    update webhooks
    set encrypted_secret = ${vault.encrypt(id, secret)}, signs_from = null, previous_encrypted_secret = ${previous},
        previous_until = case when ${previous !== null} then clock_timestamp() + ${PREVIOUS_SECRET_H} * interval '1 hour' end
    where id = ${id}
    returning previous_until as "previousUntil"`;
  await writeHistory(tx, id, 'segredo_trocado', operator);
  return { ok: { secret, previousUntil } };
}

/** Partners' webhooks with a current or future secret that no key of the vault decrypts. Reads them all, in pages. */
export async function findLostSecrets(pool: Pool, vault: Vault): Promise<readonly string[]> {
  const lost: string[] = [];
  for (let after: string | null = FIRST_ID; after !== null;) {
    const from: string = after;
    const page = await pool.run(
      (sql) => sql<{ id: string; current: Buffer; signing: Buffer }[]>`
        select id, encrypted_secret as current, ${signingSecret(sql)} as signing from webhooks
        where id > ${from} and partner_id <> operator_partner() order by id limit ${PAGE}`,
    );
    for (const { id, current, signing } of page) {
      if ([current, signing].some((form) => tryDecrypt(vault, id, form) === null)) lost.push(id);
    }
    after = page.length === PAGE ? (page.at(-1)?.id ?? null) : null;
  }
  return lost;
}

const PAGE = 2_000;

function signingSecret(sql: Tx) {
  return sql`case when signs_from > clock_timestamp() then previous_encrypted_secret else encrypted_secret end`;
}

/** Ends the wait of a new secret: it signs from now on. Repeated while the previous one still signs, it changes nothing. */
export async function activateSecret(
  tx: Tx,
  subject: Subject,
): Promise<Result<{ readonly previousUntil: Date }, 'notFound' | 'noNewSecret'>> {
  const { id } = subject;
  const secrets = await lockSecrets(tx, subject);
  if (secrets === null) return NOT_FOUND;
  const { waitsUntil, previousSignsUntil } = secrets;
  if (waitsUntil === null) {
    if (previousSignsUntil === null) return { refused: { kind: 'noNewSecret' } };
    return { ok: { previousUntil: previousSignsUntil } };
  }
  const [row] = await tx<[{ previousUntil: Date }]>`
    update webhooks
    set signs_from = null, previous_until = clock_timestamp() + ${PREVIOUS_SECRET_H} * interval '1 hour'
    where id = ${id}
    returning previous_until as "previousUntil"`;
  await writeHistory(tx, id, 'segredo_ativado', subject);
  return { ok: row };
}

/** Drops a new secret that waits; without one nothing changes. */
export async function discardSecret(
  tx: Tx,
  subject: Subject,
): Promise<Result<'none waits', 'notFound' | 'newSecretSigns'>> {
  const { id } = subject;
  const secrets = await lockSecrets(tx, subject);
  if (secrets === null) return NOT_FOUND;
  const { waitsUntil, previousSignsUntil } = secrets;
  if (waitsUntil === null) {
    return previousSignsUntil === null ? { ok: 'none waits' } : { refused: { kind: 'newSecretSigns' } };
  }
  await tx`
    update webhooks
    set encrypted_secret = previous_encrypted_secret, signs_from = null, previous_encrypted_secret = null,
        previous_until = null
    where id = ${id}`;
  await writeHistory(tx, id, 'segredo_descartado', subject);
  return { ok: 'none waits' };
}

/** Ends the secret before the last rotation now; refused while the new one waits, because none would sign. */
export async function endPreviousSecret(
  tx: Tx,
  subject: Subject,
): Promise<Result<'ended', 'notFound' | 'previousSecretSignsAlone'>> {
  const secrets = await lockSecrets(tx, subject);
  if (secrets === null) return NOT_FOUND;
  const { waitsUntil } = secrets;
  if (waitsUntil !== null) return { refused: { kind: 'previousSecretSignsAlone', until: waitsUntil } };
  const rows = await tx`
    update webhooks set previous_encrypted_secret = null, previous_until = null, signs_from = null
    where id = ${subject.id} and previous_until is not null
    returning id`;
  if (rows.length > 0) await writeHistory(tx, subject.id, 'segredo_anterior_encerrado', subject);
  return { ok: 'ended' };
}

interface Secrets {
  readonly now: Date;
  /** From when the new secret signs; null when none waits. */
  readonly waitsUntil: Date | null;
  /** Until when the one before signs beside the new one; null when it signs alone, or no longer. */
  readonly previousSignsUntil: Date | null;
}

/** The webhook locked until the transaction ends, with its secrets' times; null when the partner has none of that id. */
async function lockSecrets(tx: Tx, subject: Subject): Promise<Secrets | null> {
  return (await lockWebhook(tx, subject)) && readSecrets(tx, subject);
}

async function readSecrets(
  tx: Tx,
  { partnerId, id }: { readonly partnerId: string; readonly id: string },
): Promise<Secrets | null> {
  const [row] = await tx<Secrets[]>`
    select now, case when waits then signs_from end as "waitsUntil",
           case when not waits and previous_until > now then previous_until end as "previousSignsUntil"
    from (
      select clock.now, signs_from, previous_until, coalesce(signs_from > clock.now, false) as waits
      from webhooks, (select clock_timestamp() as now) clock
      where id = ${id} and partner_id = ${partnerId}
    ) secrets`;
  return row ?? null;
}

/** As its partner may know it; null when the partner has no webhook of that id. */
export async function readSecretState(pool: Pool, partnerId: string, id: string): Promise<SecretState | null> {
  const secrets = await pool.run((sql) => readSecrets(sql, { partnerId, id }));
  if (secrets === null) return null;
  const { waitsUntil, previousSignsUntil } = secrets;
  return { id, vale_em: waitsUntil?.toISOString() ?? null, anterior_ate: previousSignsUntil?.toISOString() ?? null };
}
