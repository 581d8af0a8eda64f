/**
 * One webhook's health: its state, its oldest pending delivery, and what became of its attempts in the last 24 hours and
 * seven days.
 *
 * What it costs does not depend on what the webhook was sent: the counts are kept by the hour
 * (queue/upkeep/hour-counter.ts), and of what is pending the first PENDING_LOOKED_AT are looked at, in the order of the index.
 * With other plans allowed, a backlog that grew after the statistics were made is read whole and then sorted.
 */
import type { HealthPeriod, WebhookHealthResource } from '../../contract/resources/webhook-health.ts';
import { PENDING_LOOKED_AT } from '../../contract/resources/webhook-health.ts';
import { OUTCOMES, type Outcome, type WebhookState } from '../../contract/statuses.ts';
import type { Pool } from '../../db/pool.ts';
import { TOOK_RATIO } from '../queue/upkeep/hour-counter.ts';

interface Standing {
  readonly isActive: boolean;
  /** Its newest deactivation or reactivation was the policy's for failing endpoints. */
  readonly isSuspended: boolean;
  readonly isMuted: boolean;
  readonly isFailing: boolean;
}

/** What a webhook's state is called. What stops its deliveries altogether comes first. */
function stateOf({ isActive, isSuspended, isMuted, isFailing }: Standing): WebhookState {
  if (!isActive) return isSuspended ? 'suspensa' : 'inativa';
  if (isMuted) return 'silenciada';
  return isFailing ? 'falhando' : 'ativa';
}

interface Pending {
  readonly id: string;
  readonly createdAt: Date;
  readonly nextAttemptAt: Date | null;
}

interface Counted {
  readonly outcome: Outcome;
  readonly took: number;
  readonly day: number;
  readonly week: number;
}

interface Row extends Standing {
  readonly countedAt: Date | null;
  readonly daySince: Date;
  readonly weekSince: Date;
}

/** Null when the partner has no webhook of that id. */
export async function readWebhookHealth(
  pool: Pool,
  partnerId: string,
  webhookId: string,
): Promise<WebhookHealthResource | null> {
  return pool.transaction(async (sql) => {
    const [row] = await sql<Row[]>`
      select w.active and p.active as "isActive",
             lane.muted_at is not null as "isMuted", lane.failing_since is not null as "isFailing",
             coalesce((select change = 'suspensao' from webhook_history
                       where webhook_id = w.id and change in ('suspensao', 'desativacao', 'reativacao')
                       order by position desc limit 1) and p.active, false) as "isSuspended",
             (select passed_at from projections where name = 'attempt_hours') as "countedAt",
             date_trunc('hour', now() - interval '24 hours') as "daySince",
             date_trunc('hour', now() - interval '7 days') as "weekSince",
             set_config('enable_bitmapscan', 'off', true), set_config('enable_seqscan', 'off', true)
      from webhooks w
      join partners p on p.id = w.partner_id
      cross join lateral (
        select muted_at, failing_since from lanes l
        where l.webhook_id = w.id and l.partner_id = w.partner_id order by l.version desc limit 1
      ) lane
      where w.id = ${webhookId} and w.partner_id = ${partnerId}`;
    if (row === undefined) return null;
    const [pending] = await sql<Pending[]>`
      select id, coalesce(uuid_extract_timestamp(event_id), created_at) as "createdAt",
             case when claimed_by is null and isfinite(next_attempt_at) then next_attempt_at end as "nextAttemptAt"
      from (
        select * from deliveries
        where webhook_id = ${webhookId} and partner_id = ${partnerId} and status = 'pendente'
        order by next_attempt_at
        limit ${PENDING_LOOKED_AT}
      ) first
      order by event_id
      limit 1`;
    const counted = await sql<Counted[]>`
      select outcome, took, coalesce(sum(attempts) filter (where hour >= ${row.daySince}), 0)::float8 as day,
             sum(attempts)::float8 as week
      from attempt_hours
      where webhook_id = ${webhookId} and hour >= ${row.weekSince}
      group by outcome, took
      order by took`;
    return {
      webhook_id: webhookId,
      estado: stateOf(row),
      pendente_mais_antiga: pending === undefined ? null : viewPending(pending),
      ultimas_24h: periodOf(row.daySince, counted, ({ day }) => day),
      ultimos_7d: periodOf(row.weekSince, counted, ({ week }) => week),
      contada_em: row.countedAt?.toISOString() ?? null,
    };
  });
}

function viewPending({ id, createdAt, nextAttemptAt }: Pending) {
  return { id, criada_em: createdAt.toISOString(), proxima_tentativa_em: nextAttemptAt?.toISOString() ?? null };
}

/** `counted` comes in the order of the times taken. */
function periodOf(since: Date, counted: readonly Counted[], numberOf: (row: Counted) => number): HealthPeriod {
  const sumOf = (outcome: Outcome) =>
    counted.filter((row) => row.outcome === outcome).reduce((sum, row) => sum + numberOf(row), 0);
  const failed = OUTCOMES.filter((outcome) => outcome !== 'entregue').map((outcome) => [outcome, sumOf(outcome)]);
  const answers = counted.filter(({ took }) => took >= 0).map((row) => ({ took: row.took, count: numberOf(row) }));
  return {
    desde: since.toISOString(),
    entregues: sumOf('entregue'),
    falhas: Object.fromEntries(failed) as HealthPeriod['falhas'],
    p50_ms: quantile(answers, 0.5),
    p95_ms: quantile(answers, 0.95),
  };
}

/** The upper bound of the class of times in which the quantile lies, in whole milliseconds. */
function quantile(answers: readonly { readonly took: number; readonly count: number }[], part: number): number | null {
  const total = answers.reduce((sum, { count }) => sum + count, 0);
  let passed = 0;
  for (const { took, count } of answers) {
    passed += count;
    if (count > 0 && passed >= part * total) return Math.floor(TOOK_RATIO ** took);
  }
  return null;
}
