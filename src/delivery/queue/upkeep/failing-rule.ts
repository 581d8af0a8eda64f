/** When a webhook is `falhando`, and when it is suspended. Pure. */
import type { FailingChange, Outcome } from '../../../contract/statuses.ts';

export interface FailingPolicy {
  /** A webhook is `falhando` after this many failures in a row, */
  readonly failingAfter: number;
  /** of which the first and the last are at least this many hours apart. */
  readonly failingHours: number;
  /** A failure at least this many days later suspends it; null: nothing does. */
  readonly suspendAfterDays: number | null;
}

/** A webhook's failures since its last success. */
export interface Run {
  readonly failures: number;
  readonly firstFailedAt: Date;
  readonly lastFailedAt: Date;
  readonly lastOutcome: Outcome;
  readonly lastStatusCode: number | null;
}

interface News {
  readonly hasDelivered: boolean;
  /** All failures since, or those after its last success. */
  readonly fresh: Run | null;
}

export interface FailingStanding {
  /** False for one that is muted, inactive or the operator's own. */
  readonly isJudged: boolean;
  /** When it became `falhando`; null: it is not. */
  readonly failingSince: Date | null;
  /** At the last look; null: its last attempt had succeeded. */
  readonly run: Run | null;
  readonly news: News;
}

export interface Verdict {
  readonly run: Run | null;
  readonly change: FailingChange | null;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * A success ends the run and the state. So do muting and deactivation: earlier failures say nothing of the endpoint that is used later.
 * Only a failure suspends, not time alone: an idle webhook is left as it is. The suspension period starts at the notice. Without a run
 * nothing says that the webhook still fails: its state ends, and it is not suspended.
 */
export function judge({ isJudged, failingSince, run, news }: FailingStanding, policy: FailingPolicy): Verdict {
  const next = isJudged ? continueRun(run, news) : null;
  const isOver = !isJudged || news.hasDelivered || run === null;
  if (failingSince !== null && isOver) return { run: next, change: 'fim_da_falha' };
  if (next === null) return { run: null, change: null };
  if (failingSince === null) return { run: next, change: fails(next, policy) ? 'falhando' : null };
  const suspendsAt = whenSuspended(failingSince, policy);
  if (suspendsAt === null || next.lastFailedAt < suspendsAt) return { run: next, change: null };
  return { run: next, change: 'suspensao' };
}

export function whenSuspended(failingSince: Date, { suspendAfterDays }: FailingPolicy): Date | null {
  return suspendAfterDays === null ? null : new Date(failingSince.getTime() + suspendAfterDays * DAY_MS);
}

function fails({ failures, firstFailedAt, lastFailedAt }: Run, { failingAfter, failingHours }: FailingPolicy): boolean {
  return failures >= failingAfter && lastFailedAt.getTime() - firstFailedAt.getTime() >= failingHours * HOUR_MS;
}

/** Attempts of one look may have ended before those of the look before it. */
function continueRun(run: Run | null, { hasDelivered, fresh }: News): Run | null {
  if (run === null || hasDelivered) return fresh;
  if (fresh === null) return run;
  const { lastFailedAt, lastOutcome, lastStatusCode } = fresh.lastFailedAt < run.lastFailedAt ? run : fresh;
  const firstFailedAt = fresh.firstFailedAt < run.firstFailedAt ? fresh.firstFailedAt : run.firstFailedAt;
  return { failures: run.failures + fresh.failures, firstFailedAt, lastFailedAt, lastOutcome, lastStatusCode };
}
