/**
 * The queue of alerts: each message until it was taken.
 *
 * Crash: before a message is sent, its claim sets the time of the next try. A message that was sent and not settled is sent twice.
 */
import type { AlertChannel, AlertKind } from '../contract/statuses.ts';
import type { Tx } from '../db/pool.ts';
import { ownEnds } from './certificates.ts';

/** A message is given up after this many tries; a test after the first. The first pause is a minute, each next twice as long: two hours in all. */
const MAX_TRIES = 8;
/** Messages in one claim, and of one partner among them. */
const AT_ONCE = 20;
const SHARE = 2;
const MAX_ERROR = 200;

interface AlertKey {
  readonly subject: string;
  readonly kind: AlertKind;
  readonly happenedAt: Date;
  readonly channel: AlertChannel;
}

export interface DueAlert extends AlertKey {
  /** An e-mail address or a URL; null for a notice. */
  readonly address: string | null;
  /** The webhook's URL; null where the subject is the partner. */
  readonly url: string | null;
  readonly label: string | null;
  /** When certificates end: its receiver's, its own, and ours. */
  readonly receiverUntil: Date | null;
  readonly ownUntil: Date | null;
  readonly oursUntil: Date | null;
  /** Of `confirmacao`; null when the address was changed or confirmed meanwhile. */
  readonly code: string | null;
}

/** A channel's next messages with an address: at most {@link SHARE} of a partner, least tried first. Unsettled ones come again. */
export function claimAlerts(sql: Tx, channel: AlertChannel, now: Date | null): Promise<DueAlert[]> {
  return sql<DueAlert[]>`
    with due as materialized (
      select * from (
        select a.subject, a.kind, a.happened_at, a.attempts, a.due_at, coalesce(a.address, t.address) as address, t.code,
               row_number() over (partition by a.partner_id order by a.attempts, a.due_at) as place
        from (
          select * from alerts
          where channel = ${channel} and due_at <= coalesce(${now}::timestamptz, clock_timestamp())
          order by attempts, due_at
          limit 1000
        ) a
        left join alert_addresses t
          on t.partner_id = a.partner_id and t.channel = a.channel
            and case when a.address is null then t.confirmed_at is not null else t.address = a.address end
        where ${channel} = 'evento' or a.address is not null or t.address is not null
      ) ranked
      where place <= ${SHARE}
      order by attempts, due_at
      limit ${AT_ONCE}
    ),
    held as (
      select a.ctid as row, due.address, due.code
      from due
      join alerts a on (a.subject, a.kind, a.happened_at, a.channel, a.attempts)
        = (due.subject, due.kind, due.happened_at, ${channel}, due.attempts)
      for update of a skip locked
    )
    update alerts a
    set attempts = attempts + 1,
        due_at = case when attempts + 1 < case kind when 'teste' then 1 else ${MAX_TRIES} end
                   then coalesce(${now}::timestamptz, now()) + interval '1 minute' * power(2, attempts) end
    from held
    where a.ctid = held.row
    returning a.subject, a.kind, a.happened_at as "happenedAt", a.channel, held.address, held.code,
              (select url from webhooks w where w.id = a.subject) as url,
              (select label from webhooks w where w.id = a.subject) as label,
              (select c.valid_until from webhooks w join receiver_certificates c on c.origin = substring(w.url from '^https://[^/?]+')
               where w.id = a.subject) as "receiverUntil",
              (select certificate_until from webhooks w where w.id = a.subject) as "ownUntil",
              (select "validUntil" from (${ownEnds(sql)}) ours where setting = 'EGRESS_CERT_FILE') as "oursUntil"`;
}

/** `error` null: it was taken. */
export async function settleAlert(
  sql: Tx,
  { subject, kind, happenedAt, channel }: AlertKey,
  error: string | null,
  now: Date | null,
): Promise<void> {
  await sql`
    update alerts
    set error = ${error?.slice(0, MAX_ERROR) ?? null},
        sent_at = case when ${error === null} then coalesce(${now}::timestamptz, clock_timestamp()) end,
        due_at = case when ${error === null} then null else due_at end
    where subject = ${subject} and kind = ${kind} and happened_at = ${happenedAt} and channel = ${channel}`;
}

export async function dropAlert(sql: Tx, { subject, kind, happenedAt, channel }: AlertKey): Promise<void> {
  await sql`
    delete from alerts
    where subject = ${subject} and kind = ${kind} and happened_at = ${happenedAt} and channel = ${channel}`;
}
