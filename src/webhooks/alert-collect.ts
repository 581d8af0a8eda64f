/**
 * Collects alerts for people from histories, deliveries and answers.
 *
 * Invariant: an alert is one row of `alerts` with the key webhook, kind, time, channel, so any number of processes may collect.
 * For `atraso` and `erro` the time is the hour: the hour's first failure is sent at once, later ones with the next hour's alert.
 * Each pass reads the failures since the last one, less {@link SLACK_S}, from the index `attempts_failed`.
 *
 * Crash: a pass is one transaction, which also moves the mark where the next pass begins.
 * Alternatives: a row by the record costs every record; a trigger on the history puts addresses into the policy's transaction.
 */
import { SCHEDULES, slotsOf } from '../contract/schedule.ts';
import { FAILURE_OUTCOMES, LATE_AFTER } from '../contract/statuses.ts';
import type { Tx } from '../db/pool.ts';
import { ownEnds } from './certificates.ts';
import { newestAnswers, STRANGE_OF } from '../delivery/queue/strange-answers.ts';

/** No record's transaction lasts longer. */
const SLACK_S = 30;
/** Nothing ends in `erro`, or fails for the fourth time, with an earlier attempt. */
const FIRST_NUMBER = Math.min(
  LATE_AFTER,
  ...Object.values(SCHEDULES).flatMap((one) => (one.delaysS.length > 0 ? [slotsOf(one)] : [])),
);
/** Failed deliveries of these notices raise no further notice. */
const OF_LOSSES = ['webhook.atraso', 'webhook.erro'];
/** After this time fewer answers than {@link STRANGE_OF} are enough. */
const STRANGE_AFTER_S = 60;
/** The first of three warnings. */
export const ENDS_SOON_DAYS = 21;

export interface Look {
  readonly now?: Date | null;
  readonly restS?: number;
}

/** Inserts the messages that are missing. False when another process collects, or has just collected. */
export async function collectAlerts(tx: Tx, { now = null, restS = 0 }: Look = {}): Promise<boolean> {
  const [mark] = await tx<{ from: Date; isNewMinute: boolean }[]>`
    select greatest(coalesce(passed_at, now()), now() - interval '1 day') - ${SLACK_S} * interval '1 second' as from,
           passed_at is null or date_trunc('minute', passed_at) < date_trunc('minute', now()) or ${restS === 0} as "isNewMinute",
           set_config('enable_seqscan', 'off', true)
    from projections
    where name = 'alerts' and coalesce(passed_at, '-infinity') <= clock_timestamp() - ${restS} * interval '1 second'
    for update skip locked`;
  if (mark === undefined) return false;
  await collectChanges(tx, null);
  await collectLosses(tx, mark.from, now);
  if (mark.isNewMinute) await collectUnexpected(tx);
  if (mark.isNewMinute) await collectEnds(tx);
  await tx`update projections set passed_at = now() where name = 'alerts'`;
  return true;
}

/** Of the last day's changes, one partner's or all, and of secrets that end within three hours. */
export async function collectChanges(sql: Tx, partnerId: string | null): Promise<void> {
  await sql`
    insert into alerts (subject, kind, happened_at, channel, partner_id)
    select subject, kind, happened_at, channel, reported.partner_id
    from (
      select h.webhook_id as subject, h.partner_id, h.changed_at as happened_at,
             case when h.change in ('falhando', 'suspensao', 'fim_da_falha') then h.change
                  when h.change = 'silenciamento' then 'silenciado' else 'mudanca' end as kind
      from webhook_history h
      where h.changed_at > now() - interval '1 day'
        and h.change in ('falhando', 'suspensao', 'fim_da_falha', 'silenciamento', 'segredo_trocado', 'segredo_agendado',
                         'segredo_ativado', 'segredo_descartado', 'segredo_anterior_encerrado', 'credenciais',
                         'fim_das_credenciais', 'alteracao', 'desativacao', 'reativacao')
        and (h.change not in ('alteracao', 'desativacao', 'reativacao') or h.url is distinct from (
          select url from webhook_history b
          where b.webhook_id = h.webhook_id and b.position < h.position order by b.position desc limit 1))
      union all
      select w.id, w.partner_id, w.previous_until, 'fim_do_segredo'
      from webhooks w
      where w.active and w.previous_until > now() and w.previous_until < now() + interval '3 hours'
    ) reported
    join alert_addresses a on a.partner_id = reported.partner_id
    where a.confirmed_at is not null and (kind = 'fim_do_segredo' or happened_at >= a.confirmed_at)
      and reported.partner_id = coalesce(${partnerId}::uuid, reported.partner_id)
    on conflict do nothing`;
}

/** Of deliveries whose fourth attempt, or last, has failed: to people, and as a notice. */
async function collectLosses(tx: Tx, from: Date, now: Date | null): Promise<void> {
  await tx`
    with failed as materialized (
      select delivery_id, webhook_id, partner_id, count(*) as failures, min(ended_at) as first_at, max(ended_at) as last_at
      from unnest(${FAILURE_OUTCOMES}::text[]) kind (outcome)
      cross join lateral (
        select a.delivery_id, a.webhook_id, a.partner_id,
               a.started_at + coalesce(a.duration_ms, 0) * interval '1 millisecond' as ended_at
        from attempts a
        where a.outcome = kind.outcome and a.outcome <> 'entregue' and a.recorded_at >= ${from}
          and not a.late and a.number >= ${FIRST_NUMBER}
        offset 0
      ) found
      group by delivery_id, webhook_id, partner_id
    ),
    lost as (
      select f.webhook_id, f.partner_id, loss.kind, date_trunc('hour', loss.at) as hour, max(loss.at) as last_at,
             bool_or(e.type <> all (${OF_LOSSES}::text[])) as has_notice
      from failed f
      join deliveries d on d.id = f.delivery_id
      join events e on e.id = d.event_id
      cross join lateral (
        select 'erro' as kind, f.last_at as at where d.status = 'erro'
        union all
        select 'atraso', f.first_at where d.failures >= ${LATE_AFTER} and d.failures - f.failures < ${LATE_AFTER}
      ) loss
      where d.is_test is null and f.partner_id <> operator_partner()
      group by f.webhook_id, f.partner_id, loss.kind, date_trunc('hour', loss.at)
    )
    insert into alerts as known (subject, kind, happened_at, channel, partner_id, due_at)
    select l.webhook_id, l.kind, due.hour, to_.channel, l.partner_id, min(due.at)
    from lost l
    cross join lateral (
      select channel from alert_addresses a where a.partner_id = l.partner_id and a.confirmed_at is not null
      union all select 'evento' where l.has_notice
    ) to_
    cross join lateral (
      select l.hour, coalesce(${now}::timestamptz, now()) as at
      union all
      select l.hour + interval '1 hour', l.hour + interval '119 minutes'
      where exists (
        select from alerts s
        where s.subject = l.webhook_id and s.kind = l.kind and s.happened_at = l.hour and s.channel = to_.channel
          and s.sent_at < l.last_at)
    ) due
    group by l.webhook_id, l.kind, due.hour, to_.channel, l.partner_id
    on conflict (subject, kind, happened_at, channel) do update
    set due_at = excluded.due_at where known.attempts = 0 and known.due_at > excluded.due_at`;
}

/** Of webhooks that answered lately, once a day of São Paulo. */
async function collectUnexpected(tx: Tx): Promise<void> {
  await tx`
    insert into alerts (subject, kind, happened_at, channel, partner_id)
    select w.id, 'resposta_estranha', date_trunc('day', now(), 'America/Sao_Paulo'), a.channel, w.partner_id
    from alert_addresses a
    join webhooks w on w.partner_id = a.partner_id and w.active
    cross join lateral (${newestAnswers(tx)}) answers
    where a.confirmed_at is not null
      and exists (select from attempt_steps s
                  where s.subject_id = w.id and s.step >= now() - interval '30 minutes' and s.delivered > 0)
      and answers.strange = answers.looked and answers.looked > 0
      and (answers.looked = ${STRANGE_OF} or answers.since < now() - ${STRANGE_AFTER_S} * interval '1 second')
    on conflict do nothing`;
}

/** Of certificates that end in 21, 7 or 1 days, each once: receivers', webhooks' client certificates, and ours. */
async function collectEnds(tx: Tx): Promise<void> {
  await tx`
    insert into alerts (subject, kind, happened_at, channel, partner_id)
    select ending.subject, 'certificado', ending.valid_until - ahead.days * interval '1 day', a.channel, ending.partner_id
    from (
      select w.id as subject, w.partner_id, c.valid_until
      from receiver_certificates c
      join webhooks w on w.active and substring(w.url from '^https://[^/?]+') = c.origin
      union all
      select id, partner_id, certificate_until from webhooks where active and certificate_until is not null
      union all
      select p.id, p.id, ours."validUntil"
      from (${ownEnds(tx)}) ours
      join partners p on p.active
      where ours.setting = 'EGRESS_CERT_FILE'
    ) ending (subject, partner_id, valid_until)
    cross join lateral (
      select min(days) as days from unnest(array[1, 7, 21]) days where ending.valid_until - days * interval '1 day' <= now()
    ) ahead
    join alert_addresses a on a.partner_id = ending.partner_id and a.confirmed_at is not null
    where ending.valid_until between now() - interval '1 day' and now() + ${ENDS_SOON_DAYS} * interval '1 day'
    on conflict do nothing`;
}
