/**
 * Failing webhooks: does what the operator's policy says (failing-rule.ts) of those whose attempts keep failing
 * (failing-runs.ts). Off unless the operator turns it on.
 *
 * Invariant: each change commits with its line of history and its notice, in the transaction that has counted the attempts it
 * comes from, and once: one poller looks at a time, under a transaction's advisory lock.
 * Crash: the look is rolled back as a whole, and whoever looks next does the same.
 * What a claim pays: one comparison a lane. In the state `falhando` its lane has one slot (claim_due.sql); every delivery
 * keeps its six attempts. The state is `lanes.failing_since`, and nowhere else.
 */
import type { FailingChange } from '../../../contract/statuses.ts';
import type { Pool, Tx } from '../../../db/pool.ts';
import { noticeOf, reasonOf, type Told } from './failing-notice.ts';
import { type FailingPolicy, judge } from './failing-rule.ts';
import { beginLook, endLook, readTroubled } from './failing-runs.ts';

/** Pollers share the looks: one that comes sooner after another's has nothing to do. */
const REST_S = 4;
/** The most webhooks that become `falhando`, or are suspended, in one look; the others do in the next. */
const STRICT_AT_ONCE = 200;

export interface Change {
  readonly webhookId: string;
  readonly change: FailingChange;
}

export interface LookOptions {
  /** Replaces the database's clock in tests. */
  readonly now?: Date | null;
  readonly restS?: number;
  readonly strictAtOnce?: number;
}

/** One look. Returns what it changed; null when another poller looks, or has just looked. */
export async function lookForFailing(
  pool: Pool,
  policy: FailingPolicy,
  { now = null, restS = REST_S, strictAtOnce = STRICT_AT_ONCE }: LookOptions = {},
): Promise<readonly Change[] | null> {
  return pool.transaction(async (tx) => {
    const span = await beginLook(tx, policy, restS);
    if (span === null) return null;
    const at = now ?? span.now;
    const judged = (await readTroubled(tx, span)).map((webhook) => Object.assign(judge(webhook, policy), { webhook }));
    const later = new Set(judged.filter(({ change }) => isStrict(change)).slice(strictAtOnce));
    const changes: Change[] = [];
    for (const one of judged) {
      const { webhook, run, change } = one;
      if (change === null || later.has(one)) continue;
      const told = { ...webhook, run, at, failingSince: webhook.failingSince ?? at, policy };
      if (await make(tx, change, told)) changes.push({ webhookId: webhook.webhookId, change });
    }
    const kept = judged.map((one) => {
      const { webhookId, partnerId } = one.webhook;
      return { webhookId, partnerId, run: one.change === 'suspensao' && !later.has(one) ? null : one.run };
    });
    await endLook(tx, policy, span, kept);
    return changes;
  });
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

/** Turns the policy off: no webhook stays `falhando`, and nothing is remembered. Returns what it changed. */
export async function forgetFailing(pool: Pool): Promise<readonly Change[]> {
  return pool.transaction(async (tx) => {
    await tx`select pg_advisory_xact_lock(advisory_lock('judging'))`;
    const ended = await tx<{ webhookId: string }[]>`
      select webhook_id as "webhookId"
      from (select webhook_id from failing_runs order by webhook_id) run
      where change_failing(webhook_id, 'fim_da_falha', now(), 'a política de falhas foi desligada')`;
    await tx`delete from failing_runs`;
    await tx`delete from failing_policy`;
    return ended.map(({ webhookId }) => ({ webhookId, change: 'fim_da_falha' }));
  });
}
