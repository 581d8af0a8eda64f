/**
 * Failing webhooks: applies the operator's policy (failing-rule.ts; on by default) to the webhooks that are in a run of failures
 * (failing-runs.ts).
 * Invariant: each change commits once, with its line of history and its notice. A transaction's advisory lock lets one poller check at a
 * time.
 * Many changes take several transactions, each far shorter than the pool's deadline. Crash: the next check finds the others.
 * A claim pays one comparison per lane. A `falhando` lane has one slot (kept-lane.ts); every delivery keeps its six attempts. The state is
 * `lanes.failing_since` alone.
 */
import type { FailingChange } from '../../../contract/statuses.ts';
import type { Pool, Tx } from '../../../db/pool.ts';
import { noticeOf, reasonOf, type Reported } from './failing-notice.ts';
import { type FailingPolicy, type FailingStanding, judge, type Run } from './failing-rule.ts';

/** Pollers share the checks: one within this time after another's does nothing. Shorter than the pause between checks. */
const REST_S = 4.9;
/** Webhooks that one transaction changes, at most. */
const CHANGED_AT_ONCE = 500;
/** After this long without a check no poller has the policy on: one that does checks at least every half minute. */
export const LEFT_AFTER_S = 300;

interface Change {
  readonly webhookId: string;
  readonly change: FailingChange;
}

export interface Step {
  readonly changes: readonly Change[];
  /** True when the next step should follow at once. */
  readonly hasMore: boolean;
}

export interface CheckOptions {
  readonly now?: Date | null;
  readonly restS?: number;
  readonly atOnce?: number;
}

interface Troubled extends FailingStanding {
  readonly webhookId: string;
  readonly partnerId: string;
  readonly url: string;
  /** Now, by the database's clock; never before the last failure. */
  readonly at: Date;
}

/** One step of a check. Returns its changes; null when another poller checks or has just checked. */
export async function detectFailing(
  pool: Pool,
  policy: FailingPolicy,
  { now = null, restS = REST_S, atOnce = CHANGED_AT_ONCE }: CheckOptions = {},
): Promise<Step | null> {
  return pool.transaction(async (tx) => {
    if (!(await beginCheck(tx, restS))) return null;
    const judged = (await readTroubled(tx, now)).map((webhook) => ({ webhook, change: judge(webhook, policy) }));
    const due = judged.filter(({ change }) => change !== null);
    const changes: Change[] = [];
    for (const { webhook, change } of due.slice(0, atOnce))
      if (change !== null && (await make(tx, change, policy, webhook)))
        changes.push({ webhookId: webhook.webhookId, change });
    const suspended = new Set(changes.filter(({ change }) => change === 'suspensao').map(({ webhookId }) => webhookId));
    const later = new Set(due.slice(atOnce));
    const isOver = ({ isJudged, webhookId }: Troubled) => !isJudged || suspended.has(webhookId);
    const over = judged.filter((one) => isOver(one.webhook) && !later.has(one));
    await forgetRuns(
      tx,
      over.map(({ webhook }) => webhook.webhookId),
    );
    const hasMore = due.length > atOnce;
    if (!hasMore) await endCheck(tx);
    return { changes, hasMore };
  });
}

async function beginCheck(tx: Tx, restS: number): Promise<boolean> {
  const [{ isFree }] = await tx<[{ isFree: boolean }]>`
    select pg_try_advisory_xact_lock(advisory_lock('judging')) and not exists (
      select from failing_policy where looked_at between now() - ${restS} * interval '1 second' and now()) as "isFree", set_config('enable_seqscan', 'off', true)`;
  return isFree;
}

/** What fails from now on counts. */
async function endCheck(tx: Tx): Promise<void> {
  await tx`
    insert into failing_policy (looked_at) values (now())
    on conflict (is_only) do update set looked_at = excluded.looked_at`;
}

async function forgetRuns(tx: Tx, webhookIds: readonly string[]): Promise<void> {
  if (webhookIds.length === 0) return;
  await tx`
    delete from failing_runs where webhook_id = any (array(
      select webhook_id from failing_runs where webhook_id = any (${[...webhookIds]}::uuid[]) for update skip locked))`;
}

/** The webhooks in a run and those that are `falhando`, by id, as their lanes are locked. */
async function readTroubled(tx: Tx, now: Date | null): Promise<Troubled[]> {
  const rows = await tx<(Omit<Troubled, 'run'> & { [K in keyof Run]: Run[K] | null })[]>`
    select t.webhook_id as "webhookId", w.partner_id as "partnerId", w.url, lane.failing_since as "failingSince",
           w.active and p.active and lane.muted_at is null and p.id <> operator_partner() as "isJudged",
           greatest(coalesce(${now}::timestamptz, now()), run.last_failed_at) as at, run.failures, run.first_failed_at as "firstFailedAt",
           run.last_failed_at as "lastFailedAt", run.last_outcome as "lastOutcome", run.last_status_code as "lastStatusCode"
    from (select webhook_id from failing_runs union select webhook_id from lanes where failing_since is not null) t
    join webhooks w on w.id = t.webhook_id
    join partners p on p.id = w.partner_id
    cross join lateral (select failing_since, muted_at from lanes l where l.webhook_id = t.webhook_id limit 1) lane
    left join failing_runs run on run.webhook_id = t.webhook_id
    order by t.webhook_id`;
  return rows.map((row) => Object.assign(row, { run: row.failures === null ? null : (row as Run) }));
}

/** False when the change no longer applies; then no notice is sent. */
async function make(tx: Tx, change: FailingChange, policy: FailingPolicy, webhook: Troubled): Promise<boolean> {
  const { webhookId, at } = webhook;
  const reported: Reported = { ...webhook, failingSince: webhook.failingSince ?? at, policy };
  const [{ isMade }] = await tx<[{ isMade: boolean }]>`
    select change_failing(${webhookId}, ${change}, ${at}, ${reasonOf(change, reported)}) as "isMade"`;
  const notice = isMade ? noticeOf(change, reported) : null;
  if (notice !== null) {
    await tx`select make_notice(${webhookId}, ${notice.name}, ${JSON.stringify(notice.data)}::text::json)`;
  }
  return isMade;
}

/**
 * One step of turning the policy off: in the end no webhook is `falhando` and nothing is stored. The last step forgets the policy, so after
 * a crash any poller can finish.
 */
export async function forgetFailing(pool: Pool, atOnce = CHANGED_AT_ONCE): Promise<Step> {
  return pool.transaction(async (tx) => {
    await lockJudging(tx);
    return forgetSome(tx, atOnce);
  });
}

/**
 * The same, but only after {@link LEFT_AFTER_S} without a check: in a rolling restart that turns the policy off, an old poller may
 * check once more and turn it on again.
 */
export async function forgetLeft(pool: Pool, atOnce = CHANGED_AT_ONCE): Promise<Step> {
  const nothing = { changes: [], hasMore: false };
  // Asked before the lock, so that checking pollers mostly find it free; and again under it, because one may just have checked.
  if (!(await pool.run(isLeft))) return nothing;
  return pool.transaction(async (tx) => {
    await lockJudging(tx);
    return (await isLeft(tx)) ? forgetSome(tx, atOnce) : nothing;
  });
}

async function isLeft(tx: Tx): Promise<boolean> {
  const rows = await tx`
    select from failing_policy where looked_at < clock_timestamp() - ${LEFT_AFTER_S} * interval '1 second'`;
  return rows.length > 0;
}

async function lockJudging(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(advisory_lock('judging'))`;
}

async function forgetSome(tx: Tx, atOnce: number): Promise<Step> {
  const ended = await tx<{ webhookId: string; isEnded: boolean }[]>`
    select webhook_id as "webhookId",
           change_failing(webhook_id, 'fim_da_falha', now(), 'a política de falhas foi desligada') as "isEnded"
    from (select webhook_id from lanes where failing_since is not null order by webhook_id limit ${atOnce}) known`;
  const hasMore = ended.length === atOnce;
  if (!hasMore) {
    await tx`delete from failing_policy`;
    await tx`delete from failing_runs`;
  }
  const changes = ended.flatMap(({ webhookId, isEnded }) =>
    isEnded ? [{ webhookId, change: 'fim_da_falha' as const }] : [],
  );
  return { changes, hasMore };
}
