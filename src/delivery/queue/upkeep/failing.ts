/**
 * Failing webhooks: does what the operator's policy says (failing-rule.ts) of those whose attempts keep failing
 * (failing-runs.ts). On unless the operator turns it off.
 *
 * Invariant: each change commits once, with its line of history and its notice: one poller looks at a time, under a
 * transaction's advisory lock. No change commits before the count of the attempts that it comes from, except the end of
 * `falhando`: a look can find that again.
 * A look is mostly one transaction. When many webhooks recover at once (after an outage of our own network, say) it takes
 * several, each far shorter than the pool's deadline. All but the last only end `falhando`; the last one remembers which attempts
 * are counted, so no end that is still to come is lost. 10,000 ends took 20 transactions of 0.25 to 0.6 s, and 3.3 s in one
 * (busy machine of 2 cores, 2026-11-23).
 * Crash: whoever looks next counts the same attempts. It finds the ends that are still to come, and nothing to do for those that
 * were made: their lanes are not `falhando`, and their runs are forgotten.
 * What a claim pays: one comparison a lane. In the state `falhando` its lane has one slot (kept-lane.ts); every delivery
 * keeps its six attempts. The state is `lanes.failing_since`, and nowhere else.
 */
import type { FailingChange } from '../../../contract/statuses.ts';
import type { Pool, Tx } from '../../../db/pool.ts';
import { noticeOf, reasonOf, type Told } from './failing-notice.ts';
import { type FailingPolicy, judge, type Verdict } from './failing-rule.ts';
import { beginLook, endLook, forgetRuns, readTroubled, type Troubled } from './failing-runs.ts';

/** Pollers share the looks: one that comes sooner after another's has nothing to do. Less than the rest of the one that looks. */
const REST_S = 4.9;
/** The most webhooks that become `falhando`, or are suspended, in one look; the others do in the next. */
const STRICT_AT_ONCE = 200;
/** The most webhooks that stop being `falhando` in one transaction. */
const ENDS_AT_ONCE = 500;
/** After this long without a look, no poller has the policy any more. A poller that has it looks every half minute at least. */
export const LEFT_AFTER_S = 300;

export interface Change {
  readonly webhookId: string;
  readonly change: FailingChange;
}

/** One transaction of a look, or of turning the policy off. */
export interface Step {
  readonly changes: readonly Change[];
  /** True when the next step should follow at once. */
  readonly hasMore: boolean;
}

export interface LookOptions {
  /** Replaces the database's clock in tests. */
  readonly now?: Date | null;
  readonly restS?: number;
  readonly strictAtOnce?: number;
  readonly endsAtOnce?: number;
}

interface Judged extends Verdict {
  readonly webhook: Troubled;
}

/** One step of a look. Returns what it changed; null when another poller looks, or has just looked. */
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
    // An operator may have muted one meanwhile: it was not suspended, and is falhando until the next look, so it keeps its run.
    const suspended = new Set(changes.filter(({ change }) => change === 'suspensao').map(({ webhookId }) => webhookId));
    const kept = judged.map(({ run, webhook: { webhookId, partnerId } }) => {
      return { webhookId, partnerId, run: suspended.has(webhookId) ? null : run };
    });
    await endLook(tx, policy, span, kept);
    return { changes, hasMore: false };
  });
}

/** Makes the changes one by one, in the order of the webhooks' ids. Returns those that were made. */
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

/** False when it was not to be changed any more; then nobody is told. */
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
 * One step of turning the policy off: no webhook stays `falhando`, with a run or without, and nothing is remembered. Each step
 * forgets the runs that it has ended, and the last one the policy, so a crash in between leaves the rest to whoever begins again.
 */
export async function forgetFailing(pool: Pool, endsAtOnce = ENDS_AT_ONCE): Promise<Step> {
  return pool.transaction(async (tx) => {
    await lockJudging(tx);
    return forgetSome(tx, endsAtOnce);
  });
}

/**
 * The same where nobody has looked for {@link LEFT_AFTER_S}; else it does nothing. In a rolling restart that turns the policy
 * off, an old poller that still has it may look once more after a new one has forgotten everything, and turn it on again.
 */
export async function forgetLeft(pool: Pool, endsAtOnce = ENDS_AT_ONCE): Promise<Step> {
  const nothing = { changes: [], hasMore: false };
  // Asked before the lock, so that those who look mostly find it free; and under it, for one may just have looked.
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
