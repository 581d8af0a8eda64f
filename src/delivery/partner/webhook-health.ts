/**
 * The health of webhooks: state, oldest pending delivery, latest failures, and outcomes of the last 24 hours and seven days.
 * The cost does not grow with a webhook's deliveries: counts are kept by the hour (queue/maintenance/hour-counter.ts), and the first
 * MAX_PENDING_SCANNED pending and the newest STREAK_OF deliveries are read in index order. With other plans allowed, PostgreSQL reads and
 * sorts a whole backlog that grew after its last statistics.
 */
import type { HealthPeriod, WebhookHealthResource } from '../../contract/resources/webhook-health.ts';
import {
  LOST_COUNTED,
  type LostDelivery,
  MAX_PENDING_SCANNED,
  STREAK_OF,
} from '../../contract/resources/webhook-health.ts';
import { FAILURE_OUTCOMES, type Outcome, type WebhookState } from '../../contract/statuses.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { newestAnswers } from '../queue/strange-answers.ts';
import { TOOK_RATIO } from '../queue/maintenance/hour-counter.ts';

interface Pending {
  readonly webhookId: string;
  readonly id: string;
  readonly createdAt: Date;
  readonly nextAttemptAt: Date | null;
}

interface Counted {
  readonly webhookId: string;
  readonly outcome: Outcome;
  readonly took: number;
  readonly day: number;
  readonly week: number;
}

interface Streak {
  readonly webhookId: string;
  readonly lastDeliveredAt: Date | null;
  readonly failedInRow: number;
}

interface Lost {
  readonly webhookId: string;
  readonly count: number;
  /** The newest and the oldest, as JSON. */
  readonly ends: readonly LostDelivery[];
}

interface HealthRow {
  readonly isActive: boolean;
  /** Its newest change of activity was made by the policy for failing endpoints. */
  readonly isSuspended: boolean;
  readonly isMuted: boolean;
  readonly isFailing: boolean;
  readonly label: string | null;
  readonly strange: number;
  readonly certificateUntil: Date | null;
  /** Null: its URL has answered 2xx. */
  readonly refusals: number | null;
  readonly quietUntil: Date | null;
  readonly id: string;
  readonly countedAt: Date | null;
  readonly daySince: Date;
  readonly weekSince: Date;
}

/** A state that stops the deliveries altogether comes first. */
function stateOf({ isActive, isSuspended, isMuted, isFailing }: HealthRow): WebhookState {
  if (!isActive) return isSuspended ? 'suspensa' : 'inativa';
  if (isMuted) return 'silenciada';
  return isFailing ? 'falhando' : 'ativa';
}

/** The health of these webhooks of the partner, in their order; unknown ones are left out. */
export async function readWebhookHealth(
  pool: Pool,
  partnerId: string,
  webhookIds: readonly string[],
): Promise<WebhookHealthResource[]> {
  const ids = [...webhookIds];
  return pool.transaction(async (sql) => {
    const rows = await sql<HealthRow[]>`
      select w.id, w.label, w.active and p.active as "isActive",
             lane.muted_at is not null as "isMuted", lane.failing_since is not null as "isFailing",
             coalesce((select change = 'suspensao' from webhook_history
                       where webhook_id = w.id and change in ('suspensao', 'desativacao', 'reativacao')
                       order by position desc limit 1) and p.active, false) as "isSuspended",
             answers.strange, w.refusals, case when w.quiet_until > now() then w.quiet_until end as "quietUntil",
             (select valid_until from receiver_certificates where origin = substring(w.url from '^https://[^/?]+'))
               as "certificateUntil",
             (select passed_at from projections where name = 'attempt_hours') as "countedAt",
             date_trunc('hour', now() - interval '24 hours') as "daySince",
             date_trunc('day', now() - interval '7 days', 'America/Sao_Paulo') as "weekSince",
             set_config('enable_bitmapscan', 'off', true), set_config('enable_seqscan', 'off', true)
      from unnest(${ids}::uuid[]) with ordinality as asked (id, place)
      join webhooks w on w.id = asked.id
      join partners p on p.id = w.partner_id
      cross join lateral (
        select muted_at, failing_since from lanes l where l.webhook_id = w.id and l.partner_id = w.partner_id
      ) lane
      cross join lateral (${newestAnswers(sql)}) answers
      where w.partner_id = ${partnerId}
      order by asked.place`;
    const [first] = rows;
    if (first === undefined) return [];
    const pending = await readPending(sql, partnerId, ids);
    const streaks = await readStreaks(sql, ids);
    const lost = await readLost(sql, partnerId, ids);
    const counted = await sql<Counted[]>`
      select webhook_id as "webhookId", outcome, took,
             coalesce(sum(attempts) filter (where hour >= ${first.daySince}), 0)::float8 as day,
             sum(attempts)::float8 as week
      from attempt_hours
      where webhook_id = any (${ids}::uuid[]) and hour >= ${first.weekSince}
      group by webhook_id, outcome, took
      order by took`;
    const countedOf = Map.groupBy(counted, ({ webhookId }) => webhookId);
    return rows.map((row) => {
      const { refusals, quietUntil } = row;
      const mine = countedOf.get(row.id) ?? [];
      const oldest = pending.find(({ webhookId }) => webhookId === row.id);
      const streak = streaks.find(({ webhookId }) => webhookId === row.id);
      const inError = lost.find(({ webhookId }) => webhookId === row.id);
      return {
        webhook_id: row.id,
        rotulo: row.label,
        estado: stateOf(row),
        pendente_mais_antiga: oldest === undefined ? null : viewPending(oldest),
        falhas_seguidas: streak?.failedInRow ?? 0,
        ultima_entregue_em: streak?.lastDeliveredAt?.toISOString() ?? null,
        em_erro: inError?.count ?? 0,
        primeira_em_erro: inError?.ends.at(-1) ?? null,
        ultimo_erro: inError?.ends[0] ?? null,
        respostas_estranhas: row.strange,
        sem_consentimento:
          refusals === null ? null : { recusas: refusals, proxima_entrega_em: quietUntil?.toISOString() ?? null },
        certificado_ate: row.certificateUntil?.toISOString() ?? null,
        ultimas_24h: periodOf(row.daySince, mine, ({ day }) => day),
        ultimos_7d: periodOf(row.weekSince, mine, ({ week }) => week),
        contada_em: row.countedAt?.toISOString() ?? null,
      };
    });
  });
}

/** Each webhook's earliest created pending delivery. */
function readPending(sql: Tx, partnerId: string, ids: string[]): Promise<Pending[]> {
  return sql<Pending[]>`
    select w.id as "webhookId", oldest.*
    from unnest(${ids}::uuid[]) w (id)
    cross join lateral (
      select id, created_at as "createdAt",
             case when isfinite(next_attempt_at) and id <> all (array(select f.delivery_id from flights() f)) then greatest(next_attempt_at, created_at) end
               as "nextAttemptAt"
      from deliveries
      where id = (
        select delivery_id
        from (
          select delivery_id, event_id from pending where webhook_id = w.id order by due_at, delivery_id limit ${MAX_PENDING_SCANNED}
        ) first
        order by event_id
        limit 1
      ) and partner_id = ${partnerId}
    ) oldest`;
}

/** Each webhook's deliveries in `erro` except tests: number, newest and oldest, each with its last attempt. */
function readLost(sql: Tx, partnerId: string, ids: string[]): Promise<Lost[]> {
  const first = (order: 'asc' | 'desc') => sql`
    (select id, event_id, finished_at from deliveries
     where webhook_id = w.id and partner_id = ${partnerId} and stopped = 'erro' and is_test is null
     order by event_id ${sql.unsafe(order)} limit 1)`;
  const counted = sql`(
    select from deliveries where webhook_id = w.id and stopped = 'erro' and is_test is null limit ${LOST_COUNTED + 1}
  ) counted`;
  const at = (column: string) =>
    sql`to_char(${sql.unsafe(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  return sql<Lost[]>`
    select w.id as "webhookId", (select count(*)::int from ${counted}) as count, ends.list as ends
    from unnest(${ids}::uuid[]) w (id)
    cross join lateral (
      select json_agg(json_build_object('id', d.id, 'criada_em', ${at('uuid_extract_timestamp(d.event_id)')},
                                        'terminou_em', ${at('d.finished_at')}, 'resultado', last.outcome,
                                        'status_http', last.status_code) order by d.event_id desc) as list
      from (${first('desc')} union ${first('asc')}) d
      cross join lateral (
        select outcome, status_code from attempts where delivery_id = d.id order by number desc, late limit 1
      ) last
    ) ends
    where ends.list is not null`;
}

/** Each webhook's newest {@link STREAK_OF} deliveries with their last attempts. */
function readStreaks(sql: Tx, ids: string[]): Promise<Streak[]> {
  return sql<Streak[]>`
    select w.id as "webhookId", max(finished_at) filter (where status = 'entregue') as "lastDeliveredAt",
           (coalesce(min(tried) filter (where outcome = 'entregue'), count(outcome) + 1) - 1)::int as "failedInRow"
    from unnest(${ids}::uuid[]) w (id)
    cross join lateral (
      select d.status, d.finished_at, last.outcome, count(last.outcome) over (order by d.event_id desc) as tried
      from (
        select id, event_id, status, finished_at from deliveries
        where webhook_id = w.id order by event_id desc limit ${STREAK_OF}
      ) d
      left join lateral (
        select outcome from attempts where delivery_id = d.id order by number desc, late desc limit 1
      ) last on true
    ) looked
    group by w.id`;
}

function viewPending({ id, createdAt, nextAttemptAt }: Pending) {
  return { id, criada_em: createdAt.toISOString(), proxima_tentativa_em: nextAttemptAt?.toISOString() ?? null };
}

/** `counted` is ordered by the times taken. */
function periodOf(since: Date, counted: readonly Counted[], numberOf: (row: Counted) => number): HealthPeriod {
  const sumOf = (outcome: Outcome) =>
    counted.filter((row) => row.outcome === outcome).reduce((sum, row) => sum + numberOf(row), 0);
  const failed = FAILURE_OUTCOMES.map((outcome) => [outcome, sumOf(outcome)]);
  const answers = counted.filter(({ took }) => took >= 0).map((row) => ({ took: row.took, count: numberOf(row) }));
  return {
    desde: since.toISOString(),
    entregues: sumOf('entregue'),
    falhas: Object.fromEntries(failed) as HealthPeriod['falhas'],
    p50_ms: quantile(answers, 0.5),
    p95_ms: quantile(answers, 0.95),
  };
}

/** The upper bound of the quantile's class of times, in whole milliseconds. */
export function quantile(
  answers: readonly { readonly took: number; readonly count: number }[],
  part: number,
): number | null {
  const total = answers.reduce((sum, { count }) => sum + count, 0);
  let passed = 0;
  for (const { took, count } of answers) {
    passed += count;
    if (count > 0 && passed >= part * total) return Math.floor(TOOK_RATIO ** took);
  }
  return null;
}
