/**
 * Failing webhooks: applies the operator's policy (failing-rule.ts) to webhooks whose attempts keep failing (failing-runs.ts). On by
 * default.
 * Invariant: each change commits once, with its line of history and its notice; one poller looks at a time, under a transaction's advisory
 * lock. No change commits before the count of its attempts, except the end of `falhando`, which a later look can find again.
 * When many webhooks recover at once, a look takes several transactions, each far shorter than the pool's deadline: all but the last only
 * end `falhando`; the last stores which attempts are counted (10,000 ends: 20 transactions of 0.25 to 0.6 s).
 * Crash: the next look counts the same attempts. Ends already made are not repeated: those lanes are no longer `falhando`, and their runs
 * are forgotten.
 * Cost of a claim: one comparison per lane. A `falhando` lane has one slot (kept-lane.ts); every delivery keeps its six attempts. The state
 * is `lanes.failing_since` alone.
 */
import type { FailingChange } from '../../../contract/statuses.ts';
import type { Pool, Tx } from '../../../db/pool.ts';
import { noticeOf, reasonOf, type Told } from './failing-notice.ts';
import { type FailingPolicy, judge, type Verdict } from './failing-rule.ts';
import { beginLook, endLook, forgetRuns, readTroubled, type Troubled } from './failing-runs.ts';

/** Pollers share the looks: one within this time after another's does nothing. Shorter than the pause between looks. */
const REST_S = 4.9;
/** Webhooks that become `falhando` or are suspended in one look, at most. */
const STRICT_AT_ONCE = 200;
/** Webhooks that stop being `falhando` in one transaction, at most. */
const ENDS_AT_ONCE = 500;
/** After this long without a look no poller has the policy on: one that does looks at least every half minute. */
export const LEFT_AFTER_S = 300;

export interface Change {
  readonly webhookId: string;
  readonly change: FailingChange;
}

export interface Step {
  readonly changes: readonly Change[];
  /** True when the next step should follow at once. */
  readonly hasMore: boolean;
}

export interface LookOptions {
  readonly now?: Date | null;
  readonly restS?: number;
  readonly strictAtOnce?: number;
  readonly endsAtOnce?: number;
}

interface Judged extends Verdict {
  readonly webhook: Troubled;
}

/** One step of a look. Returns its changes; null when another poller looks or has just looked. */
export async function lookForFailing(
  pool: Pool,
  policy: FailingPolicy,
  { now = null, restS = REST_S, strictAtOnce = STRICT_AT_ONCE, endsAtOnce = ENDS_AT_ONCE }: LookOptions = {},
): Promise<Step | null> {
  return pool.transaction(async (tx) => {
    const span = await beginLook(tx, policy, restS);
    if (span === null) return null;
    const at = now ?? span.now;
    const judged = (await readTroubled(tx, span)).map((webhook) => Object.assign(judge(webhook, policy), { webhook }));
    const ends = judged.filter(({ change }) => change === 'fim_da_falha');
    if (ends.length > endsAtOnce) {
      const ended = ends.slice(0, endsAtOnce);
      const changes = await makeAll(tx, ended, at, policy);
      const ids = ended.map(({ webhook }) => webhook.webhookId);
      await forgetRuns(tx, ids);
      return { changes, hasMore: true };
    }
    const later = new Set(judged.filter(({ change }) => isStrict(change)).slice(strictAtOnce));
    const changes = await makeAll(
      tx,
      judged.filter((one) => !later.has(one)),
      at,
      policy,
    );
    // An operator may have muted one meanwhile: it was not suspended, stays falhando until the next look, and keeps its run.
    const suspended = new Set(changes.filter(({ change }) => change === 'suspensao').map(({ webhookId }) => webhookId));
    const kept = judged.map(({ run, webhook: { webhookId, partnerId } }) => {
      return { webhookId, partnerId, run: suspended.has(webhookId) ? null : run };
    });
    await endLook(tx, policy, span, kept);
    return { changes, hasMore: false };
  });
}

/** Makes the changes in the order of webhook ids. Returns those made. */
async function makeAll(tx: Tx, judged: readonly Judged[], at: Date, policy: FailingPolicy): Promise<Change[]> {
  const made: Change[] = [];
  for (const { webhook, run, change } of judged) {
    if (change === null) continue;
    const told = { ...webhook, run, at, failingSince: webhook.failingSince ?? at, policy };
    if (await make(tx, change, told)) made.push({ webhookId: webhook.webhookId, change });
  }
  return made;
}

function isStrict(change: FailingChange | null): boolean {
  return change === 'falhando' || change === 'suspensao';
}

/** False when the change no longer applies; then nobody is notified. */
async function make(tx: Tx, change: FailingChange, told: Told): Promise<boolean> {
  const { webhookId, at } = told;
  const [{ isMade }] = await tx<[{ isMade: boolean }]>`
    select change_failing(${webhookId}, ${change}, ${at}, ${reasonOf(change, told)}) as "isMade"`;
  const notice = isMade ? noticeOf(change, told) : null;
  if (notice !== null) {
    await tx`select make_notice(${webhookId}, ${notice.name}, ${JSON.stringify(notice.data)}::text::json)`;
  }
  return isMade;
}

/**
 * One step of turning the policy off: in the end no webhook is `falhando` and nothing is stored. The last step forgets the policy, so after
 * a crash any poller can finish.
 */
export async function forgetFailing(pool: Pool, endsAtOnce = ENDS_AT_ONCE): Promise<Step> {
  return pool.transaction(async (tx) => {
    await lockJudging(tx);
    return forgetSome(tx, endsAtOnce);
  });
}

/**
 * The same, but only where nobody has looked for {@link LEFT_AFTER_S}: in a rolling restart that turns the policy off, an old poller may
 * look once more and turn it on again.
 */
export async function forgetLeft(pool: Pool, endsAtOnce = ENDS_AT_ONCE): Promise<Step> {
  const nothing = { changes: [], hasMore: false };
  // Checked before the lock, so that those who look mostly find it free; and again under it, because one may just have looked.
  if (!(await pool.run(isLeft))) return nothing;
  return pool.transaction(async (tx) => {
    await lockJudging(tx);
    return (await isLeft(tx)) ? forgetSome(tx, endsAtOnce) : nothing;
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

async function forgetSome(tx: Tx, endsAtOnce: number): Promise<Step> {
  const runs = await tx<{ webhookId: string; isEnded: boolean }[]>`
    select webhook_id as "webhookId",
           change_failing(webhook_id, 'fim_da_falha', now(), 'a política de falhas foi desligada') as "isEnded"
    from (
      select webhook_id from failing_runs
      union select webhook_id from lanes where failing_since is not null
      order by webhook_id
      limit ${endsAtOnce}
    ) known`;
  const ids = runs.map(({ webhookId }) => webhookId);
  await forgetRuns(tx, ids);
  const hasMore = runs.length === endsAtOnce;
  if (!hasMore) await tx`delete from failing_policy`;
  const changes = runs.flatMap(({ webhookId, isEnded }) =>
    isEnded ? [{ webhookId, change: 'fim_da_falha' as const }] : [],
  );
  return { changes, hasMore };
}
