/**
 * Runs of failures: a webhook's failed attempts since its last success, counted from the table of attempts.
 * Invariant: every attempt is counted once, by the first look whose snapshot shows it. The counting transaction stores its snapshot; the
 * next look counts the rows that its own snapshot shows and the stored one does not. So late commits count, and no open transaction blocks.
 * A late report of a failure does not count, because its row `desconhecido` has.
 * A look reads all failures since the last look by `attempts_failed`, from SLACK_S before it, and the successes of partners that have
 * failures by `attempts_by_partner`. Recording pays nothing.
 * Alternatives: counters on the lane lengthen every record; an index of failures by webhook counts a long run anew at each look; a cursor
 * by transaction stops while any transaction is open.
 */
import { OUTCOMES } from '../../../contract/statuses.ts';
import type { Tx } from '../../../db/pool.ts';
import type { FailingPolicy, Run, FailingStanding } from './failing-rule.ts';

const FAILED = OUTCOMES.filter((outcome) => outcome !== 'entregue');
/** The longest transaction of a record: pollers' connections end after 4 s, the API's after 15. */
const SLACK_S = 30;

/** Which attempts a look counts: those new in `snapshot`. */
export interface Span {
  readonly lastEpoch: string;
  /** Attempts in it were counted by the last look. */
  readonly lastSnapshot: string;
  readonly epoch: string;
  readonly snapshot: string;
  readonly recordedFrom: Date;
  readonly now: Date;
}

/** A webhook that is in a run, has failed since the last look, or is `falhando`. */
export interface Troubled extends FailingStanding {
  readonly webhookId: string;
  readonly partnerId: string;
  readonly url: string;
}

type Kept = Pick<Troubled, 'webhookId' | 'partnerId' | 'run'>;

/**
 * Takes the lock until the transaction ends. Null when another poller holds it, looked less than `restS` ago, or the policy was just turned
 * on: earlier attempts do not count.
 */
export async function beginLook(tx: Tx, policy: FailingPolicy, restS: number): Promise<Span | null> {
  const [{ taken }] = await tx<[{ taken: boolean }]>`
    select pg_try_advisory_xact_lock(advisory_lock('judging')) as taken, set_config('enable_seqscan', 'off', true)`;
  if (!taken) return null;
  const [span] = await tx<Span[]>`
    select epoch::text as "lastEpoch", snapshot::text as "lastSnapshot", current_epoch()::text as epoch,
           pg_current_snapshot()::text as snapshot,
           least(looked_at, now()) - ${SLACK_S} * interval '1 second' as "recordedFrom", now()
    from failing_policy
    where looked_at not between now() - ${restS} * interval '1 second' and now()`;
  if (span !== undefined) return span;
  const { failingAfter, failingHours, suspendAfterDays } = policy;
  await tx`
    insert into failing_policy (failing_after, failing_hours, suspend_after_days, epoch, snapshot, looked_at)
    values (${failingAfter}, ${failingHours}, ${suspendAfterDays}, current_epoch(), pg_current_snapshot(), now())
    on conflict do nothing`;
  return null;
}

export async function endLook(tx: Tx, policy: FailingPolicy, span: Span, kept: readonly Kept[]): Promise<void> {
  const over = kept.flatMap(({ webhookId, run }) => (run === null ? [webhookId] : []));
  const open = kept.flatMap(({ webhookId, partnerId, run }) =>
    run === null ? [] : [{ webhookId, partnerId, ...run }],
  );
  await forgetRuns(tx, over);
  if (open.length > 0) {
    await tx`
      insert into failing_runs as known
        (webhook_id, partner_id, failures, first_failed_at, last_failed_at, last_outcome, last_status_code)
      select *
      from unnest(
        ${open.map(({ webhookId }) => webhookId)}::uuid[],
        ${open.map(({ partnerId }) => partnerId)}::uuid[],
        ${open.map(({ failures }) => failures)}::int[],
        ${open.map(({ firstFailedAt }) => firstFailedAt.toISOString())}::timestamptz[],
        ${open.map(({ lastFailedAt }) => lastFailedAt.toISOString())}::timestamptz[],
        ${open.map(({ lastOutcome }) => lastOutcome)}::text[],
        ${open.map(({ lastStatusCode }) => lastStatusCode)}::smallint[])
      on conflict (webhook_id) do update
      set failures = excluded.failures, first_failed_at = excluded.first_failed_at,
          last_failed_at = excluded.last_failed_at, last_outcome = excluded.last_outcome,
          last_status_code = excluded.last_status_code
      where known.failures <> excluded.failures or known.first_failed_at <> excluded.first_failed_at`;
  }
  const { failingAfter, failingHours, suspendAfterDays } = policy;
  await tx`
    update failing_policy
    set failing_after = ${failingAfter}, failing_hours = ${failingHours}, suspend_after_days = ${suspendAfterDays},
        epoch = ${span.epoch}::text::smallint, snapshot = ${span.snapshot}::text::pg_snapshot, looked_at = now()`;
}

export async function forgetRuns(tx: Tx, webhookIds: readonly string[]): Promise<void> {
  if (webhookIds.length > 0) await tx`delete from failing_runs where webhook_id = any (${[...webhookIds]}::uuid[])`;
}

interface TroubledRow extends Omit<Troubled, 'run' | 'news'> {
  readonly run: StoredRun | null;
  readonly fresh: StoredRun | null;
  readonly hasDelivered: boolean;
}

type StoredRun = Omit<Run, 'firstFailedAt' | 'lastFailedAt'> & Record<'firstFailedAt' | 'lastFailedAt', string>;

/** Ordered by id, as their lanes are locked. Includes `falhando` webhooks whose run is lost, so that their state can end. */
export async function readTroubled(tx: Tx, span: Span): Promise<Troubled[]> {
  const rows = await tx<TroubledRow[]>`
    with failed as materialized (
      select found.*
      from unnest(${FAILED}::text[]) kind (outcome)
      cross join lateral (
        select a.webhook_id, a.partner_id, a.outcome, a.status_code, ${endedAt(tx)}
        from attempts a
        where a.outcome = kind.outcome and a.outcome <> 'entregue' and not a.late and ${isIn(tx, span)}
        offset 0
      ) found
    ),
    troubled as materialized (
      select webhook_id, partner_id from failed
      union select webhook_id, partner_id from failing_runs
      union select webhook_id, partner_id from lanes where failing_since is not null
    ),
    good as materialized (
      select found.webhook_id, max(found.ended_at) as at
      from (select distinct partner_id from troubled) partner
      cross join lateral (
        select a.webhook_id, ${endedAt(tx)}
        from attempts a
        where a.partner_id = partner.partner_id and a.outcome = 'entregue' and ${isIn(tx, span)}
        offset 0
      ) found
      where found.webhook_id in (select webhook_id from troubled)
      group by found.webhook_id
    ),
    fresh as materialized (
      select f.webhook_id, count(*)::int as failures, min(f.ended_at) as first_failed_at, max(f.ended_at) as last_failed_at,
             (array_agg(f.outcome order by f.ended_at desc))[1] as last_outcome,
             (array_agg(f.status_code order by f.ended_at desc))[1] as last_status_code
      from failed f
      left join good on good.webhook_id = f.webhook_id
      where good.at is null or f.ended_at > good.at
      group by f.webhook_id
    )
    select t.webhook_id as "webhookId", t.partner_id as "partnerId", w.url, lane.failing_since as "failingSince",
           w.active and p.active and lane.muted_at is null and p.id <> operator_partner() as "isJudged",
           good.webhook_id is not null as "hasDelivered",
           case when run.webhook_id is not null then ${asJson(tx, 'run')} end as run,
           case when fresh.webhook_id is not null then ${asJson(tx, 'fresh')} end as fresh
    from troubled t
    join webhooks w on w.id = t.webhook_id
    join partners p on p.id = t.partner_id
    cross join lateral (
      select failing_since, muted_at from lanes l
      where l.webhook_id = t.webhook_id and l.partner_id = t.partner_id limit 1
    ) lane
    left join failing_runs run on run.webhook_id = t.webhook_id
    left join good on good.webhook_id = t.webhook_id
    left join fresh on fresh.webhook_id = t.webhook_id
    order by t.webhook_id`;
  return rows.map((row) => {
    const { hasDelivered, fresh } = row;
    return Object.assign(row, { run: toRun(row.run), news: { hasDelivered, fresh: toRun(fresh) } });
  });
}

/** Snapshots compare transactions of their own epoch only: an earlier epoch's are over, a later one's had not begun. */
function isIn(tx: Tx, { lastEpoch, lastSnapshot, epoch, snapshot, recordedFrom }: Span) {
  return tx`
    a.recorded_at >= ${recordedFrom}
    and case a.epoch
          when ${lastEpoch}::text::smallint then not pg_visible_in_snapshot(a.tx, ${lastSnapshot}::text::pg_snapshot)
          else a.epoch > ${lastEpoch}::text::smallint
        end
    and case a.epoch
          when ${epoch}::text::smallint then pg_visible_in_snapshot(a.tx, ${snapshot}::text::pg_snapshot)
          else a.epoch < ${epoch}::text::smallint
        end`;
}

function endedAt(tx: Tx) {
  return tx`a.started_at + coalesce(a.duration_ms, 0) * interval '1 millisecond' as ended_at`;
}

function asJson(tx: Tx, relation: 'run' | 'fresh') {
  const of = tx(relation);
  return tx`json_build_object(
    'failures', ${of}.failures, 'firstFailedAt', ${of}.first_failed_at, 'lastFailedAt', ${of}.last_failed_at,
    'lastOutcome', ${of}.last_outcome, 'lastStatusCode', ${of}.last_status_code)`;
}

function toRun(stored: StoredRun | null): Run | null {
  if (stored === null) return null;
  return { ...stored, firstFailedAt: new Date(stored.firstFailedAt), lastFailedAt: new Date(stored.lastFailedAt) };
}
