/**
 * One delivery as it was sent: the exact bytes, and each attempt's headers, rebuilt from rows.
 * Two headers are uncertain. (1) Signatures: a webhook keeps two secrets at most. Attempts before the last rotation but one were signed by
 * a secret that is gone, and attempts claimed around a rotation by either; both are shown unsigned. (2) `webhook-timestamp`: the recorded
 * start, which a slow answer of the database can shift by one second. `User-Agent` is this version's. `traceparent` is the event's; the
 * attempt may have sent its own span. An attempt without a connection sent nothing.
 */
import { ERASED } from '../../contract/erasure.ts';
import type { Outcome } from '../../contract/statuses.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import type { ClaimedDelivery } from '../queue/claim.ts';
import { LEASE_S } from '../queue/lease.ts';
import { signRequest } from '../poller/request.ts';
import { type ArchivedDelivery, rowsOf } from './delivery-rows.ts';
import { type Openers, type OpenSecret, rememberOpened } from '../sending/openers.ts';

export type { OpenSecret };

interface SentAttempt extends Omit<AttemptRow, 'outcome'> {
  /** Names and values in sending order, empty if nothing was sent; without signatures if `isSigned` is false. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly isSigned: boolean;
}

export interface SentDelivery {
  /** The body of every attempt; `apagado` where the event was erased. */
  readonly body: Buffer;
  readonly url: string;
  readonly failures: number;
  readonly attempts: readonly SentAttempt[];
}

interface DeliveryRow extends Omit<ClaimedDelivery, 'number' | 'dueAt' | 'encryptedCredentials' | 'claimedAt'> {
  readonly failures: number;
}

interface AttemptRow {
  readonly number: number;
  readonly late: boolean;
  readonly url: string;
  readonly address: string | null;
  readonly startedAt: Date;
  readonly outcome: Outcome;
}

/** When a webhook's secrets began and ceased to sign; latest last. */
interface Change {
  readonly change: string;
  readonly at: Date;
}

interface Changes {
  readonly changes: readonly Change[];
  /** Before this moment too few changes were read to know the signers. */
  readonly knownFromMs: number;
}

const CHANGES_READ = 100;
const PREVIOUS_SIGNS_MS = 24 * 3_600_000;

/** With its attempts of these numbers. Null when the partner has no such delivery. */
export async function readSent(
  pool: Pool,
  openSecret: OpenSecret,
  partnerId: string,
  id: string,
  numbers: readonly number[],
  archived: ArchivedDelivery | null = null,
): Promise<SentDelivery | null> {
  return pool.transaction(async (tx) => {
    await tx`set transaction isolation level repeatable read, read only`;
    const rows = rowsOf(tx, archived);
    const [row] = await tx<DeliveryRow[]>`
      select d.id, d.webhook_id as "webhookId", d.partner_id as "partnerId", m.type as event, m.body,
             m.loan_version as "loanVersion", m.traceparent, m.salt, d.failures, d.is_test is true as "isTest",
             w.url, w.encrypted_secret as "encryptedSecret",
             w.previous_encrypted_secret as "previousEncryptedSecret"
      from ${rows.deliveries} d
      join messages m on m.event_id = d.event_id
      join webhooks w on w.id = d.webhook_id
      where d.id = ${id} and d.partner_id = ${partnerId}`;
    if (row === undefined) return null;
    const attempts = await tx<AttemptRow[]>`
      select number, late, coalesce(a.url, t.url) as url, coalesce(a.address, t.address) as address, started_at as "startedAt",
             outcome
      from ${rows.attempts} a left join targets t on t.id = a.target
      where delivery_id = ${id} and number = any (${[...numbers]}::int[])
      order by number, late`;
    const changes = await readSecretChanges(tx, row.webhookId);
    const { url, failures } = row;
    const body = row.salt === null ? Buffer.from(ERASED) : row.body;
    // A text that lost a CPF is no longer what was signed.
    const signersAt = row.salt === null || row.salt.length === 0 ? () => null : signersOf(row, changes);
    const openers = rememberOpened({ openSecret });
    return { body, url, failures, attempts: attempts.map((attempt) => sent(row, attempt, signersAt, openers)) };
  });
}

/** The webhook's newest {@link CHANGES_READ} changes of secrets, oldest first, and the time from which they are complete. */
async function readSecretChanges(tx: Tx, webhookId: string): Promise<Changes> {
  const newest = await tx<Change[]>`
    select change, coalesce(takes_effect_at, changed_at) as at
    from webhook_history
    where webhook_id = ${webhookId} and change like 'segredo%'
    order by position desc
    limit ${CHANGES_READ}`;
  const oldest = newest.length < CHANGES_READ ? undefined : newest.at(-1);
  // The secret before the oldest one read may have signed beside it for a day.
  return { changes: newest.toReversed(), knownFromMs: oldest ? oldest.at.getTime() + PREVIOUS_SIGNS_MS : -Infinity };
}

type Signers = Pick<DeliveryRow, 'encryptedSecret' | 'previousEncryptedSecret'>;

/** The secrets that signed at a moment, newest first; null when unknown. */
function signersOf(row: DeliveryRow, { changes, knownFromMs }: Changes): (at: Date) => Signers | null {
  // A secret dropped before its time never signed; a rotation begins at its time, or at an earlier activation.
  const begins: number[] = [];
  let ended: number | null = null;
  for (const { change, at } of changes) {
    if (change === 'segredo_trocado' || change === 'segredo_agendado') begins.push(at.getTime());
    if (change === 'segredo_ativado') begins.splice(-1, 1, at.getTime());
    if (change === 'segredo_descartado') begins.pop();
    ended = change === 'segredo_anterior_encerrado' ? at.getTime() : null;
  }
  const current = begins.at(-1) ?? null;
  const before = begins.at(-2) ?? null;
  return (moment) => {
    const at = moment.getTime();
    if (at < knownFromMs) return null;
    const isNear = (bound: number | null) => bound !== null && Math.abs(at - bound) <= LEASE_S * 1_000;
    const previousUntil = current === null ? null : (ended ?? current + PREVIOUS_SIGNS_MS);
    if ([current, before, previousUntil, before === null ? null : before + PREVIOUS_SIGNS_MS].some(isNear)) return null;
    if (current === null) return { encryptedSecret: row.encryptedSecret, previousEncryptedSecret: null };
    if (at >= current && at < (previousUntil ?? 0)) return row.previousEncryptedSecret === null ? null : row;
    if (at >= current) return { encryptedSecret: row.encryptedSecret, previousEncryptedSecret: null };
    // Before the newest secret the previous one signed, for its first day beside another that is gone.
    const isAlone = before === null || at >= before + PREVIOUS_SIGNS_MS;
    if (row.previousEncryptedSecret === null || !isAlone) return null;
    return { encryptedSecret: row.previousEncryptedSecret, previousEncryptedSecret: null };
  };
}

const SIGNATURE = /signature/i;
/** Attempts with these outcomes sent their request; others only if they reached an address. */
const SENT: ReadonlySet<Outcome> = new Set(['entregue', 'resposta_nao_2xx', 'desconhecido']);
const UNSENT: ReadonlySet<Outcome> = new Set(['erro_tls', 'destino_recusado', 'erro_autorizacao']);

const wasSent = ({ outcome, address }: AttemptRow) => SENT.has(outcome) || (address !== null && !UNSENT.has(outcome));

function sent(
  row: DeliveryRow,
  attempt: AttemptRow,
  signersAt: (at: Date) => Signers | null,
  openers: Openers,
): SentAttempt {
  const { number, late, url, address, startedAt } = attempt;
  const signers = signersAt(startedAt);
  const { encryptedSecret, previousEncryptedSecret } = signers ?? {
    encryptedSecret: row.encryptedSecret,
    previousEncryptedSecret: null,
  };
  // Headers that the receiver's gateway demands are secret and not shown.
  const encryptedCredentials = null;
  const signed = { encryptedSecret, previousEncryptedSecret, encryptedCredentials };
  const delivery = { ...row, url, number, claimedAt: startedAt, ...signed };
  const { headers } = signRequest(delivery, openers, startedAt).request;
  const pairs = Array.from({ length: wasSent(attempt) ? headers.length / 2 : 0 }, (_, index) => {
    return [headers[2 * index] as string, headers[2 * index + 1] as string] as const;
  });
  const isSigned = signers !== null;
  const sentHeaders = pairs.filter(([name]) => isSigned || !SIGNATURE.test(name));
  return { number, late, url, address, startedAt, isSigned, headers: sentHeaders };
}
