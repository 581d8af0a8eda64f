/**
 * Alerts to a partner's people: that a webhook fails, was suspended or is well again, and that a secret is about to end.
 *
 * Invariant: each change is told once on each channel, as long as it is known for a day. The key of `alerts` is the change and
 * the channel, so any number of processes may look for what to tell.
 * Crash: before a message is sent, its claim sets the time of the next try. A message that was sent and not settled is sent twice.
 * Alternative: a row beside the line of history, by trigger. It would put the partner's addresses into the policy's transaction.
 */
import type { AlertChannel, AlertKind } from '../contract/statuses.ts';
import type { Tx } from '../db/pool.ts';

/** A message is given up after this many tries. The first pause is a minute and each next one is twice as long: two hours in all. */
const MAX_TRIES = 8;
const SHOWN = 20;
const MAX_ERROR = 200;

interface Addresses {
  readonly email: string | null;
  readonly slackUrl: string | null;
}

interface AlertKey {
  readonly subject: string;
  readonly kind: AlertKind;
  readonly happenedAt: Date;
  readonly channel: AlertChannel;
}

interface ShownAlert extends AlertKey {
  readonly createdAt: Date;
  readonly sentAt: Date | null;
  readonly attempts: number;
  readonly error: string | null;
}

export interface DueAlert extends AlertKey {
  /** An e-mail address or a URL. */
  readonly address: string;
  /** The webhook's URL; null of a test. */
  readonly url: string | null;
}

/** Where the partner's alerts go, and the newest. */
export async function readAlerts(sql: Tx, partnerId: string): Promise<Addresses & { alerts: readonly ShownAlert[] }> {
  const [row] = await sql<Addresses[]>`
    select email, slack_url as "slackUrl" from alert_addresses where partner_id = ${partnerId}`;
  const alerts = await sql<ShownAlert[]>`
    select subject, kind, happened_at as "happenedAt", channel, created_at as "createdAt", sent_at as "sentAt", attempts, error
    from alerts where partner_id = ${partnerId} order by created_at desc limit ${SHOWN}`;
  return { email: row?.email ?? null, slackUrl: row?.slackUrl ?? null, alerts };
}

/**
 * From now on; what happened before is not told, nor what waits for the addresses before. Without `slackUrl` the chat's stays.
 */
export async function setAddresses(
  sql: Tx,
  partnerId: string,
  { email, slackUrl }: Pick<Addresses, 'email'> & { readonly slackUrl: string | null | undefined },
): Promise<void> {
  await sql`
    insert into alert_addresses (partner_id, email, slack_url, set_at)
    values (${partnerId}, ${email}, ${slackUrl ?? null}, clock_timestamp())
    on conflict (partner_id) do update set email = excluded.email, set_at = excluded.set_at,
      slack_url = case when ${slackUrl === undefined} then alert_addresses.slack_url else excluded.slack_url end`;
  await sql`update alerts set due_at = null where partner_id = ${partnerId} and due_at is not null`;
}

/** One test on each channel, at most one a minute. */
export async function orderTest(sql: Tx, partnerId: string): Promise<void> {
  await sql`
    insert into alerts (subject, kind, happened_at, channel, partner_id)
    select partner_id, 'teste', date_trunc('minute', now()), channel, partner_id
    from alert_addresses cross join lateral (values ('email', email), ('slack', slack_url)) to_ (channel, address)
    where partner_id = ${partnerId} and address is not null
    on conflict do nothing`;
}

/** Inserts the alerts that are missing: of the last day's changes, and of secrets that end within three hours. */
export async function collectAlerts(sql: Tx): Promise<void> {
  await sql`
    insert into alerts (subject, kind, happened_at, channel, partner_id)
    select subject, kind, happened_at, channel, partner_id
    from (
      select a.*, h.webhook_id as subject, h.change as kind, h.changed_at as happened_at
      from webhook_history h join alert_addresses a on a.partner_id = h.partner_id
      where h.changed_at > now() - interval '1 day' and h.changed_at >= a.set_at
        and h.change in ('falhando', 'suspensao', 'fim_da_falha')
      union all
      select a.*, w.id, 'fim_do_segredo', w.previous_until
      from alert_addresses a join webhooks w on w.partner_id = a.partner_id
      where w.active and w.previous_until > now() and w.previous_until < now() + interval '3 hours'
    ) told
    cross join lateral (values ('email', email), ('slack', slack_url)) to_ (channel, address)
    where address is not null
    on conflict do nothing`;
}

/**
 * Takes the next ones; each comes again when it was not settled. One without an address, which somebody took away just when it was
 * inserted, is left where it is: taken into the bounded list, ten of them would keep back everybody's.
 */
export function claimAlerts(sql: Tx, most: number): Promise<DueAlert[]> {
  return sql<DueAlert[]>`
    with due as (
      select a.ctid as row, to_.address
      from alerts a
      join alert_addresses t on t.partner_id = a.partner_id
      cross join lateral (select case a.channel when 'email' then t.email else t.slack_url end as address) to_
      where a.due_at <= now() and to_.address is not null
      order by a.due_at
      limit ${most}
      for update of a skip locked
    )
    update alerts a
    set attempts = attempts + 1,
        due_at = case when attempts + 1 < ${MAX_TRIES} then now() + interval '1 minute' * power(2, attempts) end
    from due
    where a.ctid = due.row
    returning a.subject, a.kind, a.happened_at as "happenedAt", a.channel, due.address,
              (select url from webhooks w where w.id = a.subject) as url`;
}

/** `error` null: it was taken. */
export async function settleAlert(
  sql: Tx,
  { subject, kind, happenedAt, channel }: AlertKey,
  error: string | null,
): Promise<void> {
  await sql`
    update alerts
    set error = ${error?.slice(0, MAX_ERROR) ?? null},
        sent_at = case when ${error === null} then clock_timestamp() end,
        due_at = case when ${error === null} then null else due_at end
    where subject = ${subject} and kind = ${kind} and happened_at = ${happenedAt} and channel = ${channel}`;
}
