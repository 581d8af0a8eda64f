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

export interface FailingStanding {
  /** False for one that is muted, inactive or the operator's own. */
  readonly isJudged: boolean;
  /** When it became `falhando`; null: it is not. */
  readonly failingSince: Date | null;
  /** Null: its last attempt has succeeded. */
  readonly run: Run | null;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * A success ends the run and the state: a run that began later has followed one. So do muting and deactivation: earlier failures say
 * nothing of the endpoint that is used later.
 * Only a failure suspends, time does not: an idle webhook stays as it is. The suspension period starts at the notice.
 */
export function judge({ isJudged, failingSince, run }: FailingStanding, policy: FailingPolicy): FailingChange | null {
  if (failingSince === null) return isJudged && run !== null && fails(run, policy) ? 'falhando' : null;
  if (!isJudged || run === null || run.firstFailedAt > failingSince) return 'fim_da_falha';
  const suspendsAt = whenSuspended(failingSince, policy);
  return suspendsAt !== null && run.lastFailedAt >= suspendsAt ? 'suspensao' : null;
}

export function whenSuspended(failingSince: Date, { suspendAfterDays }: FailingPolicy): Date | null {
  return suspendAfterDays === null ? null : new Date(failingSince.getTime() + suspendAfterDays * DAY_MS);
}

function fails({ failures, firstFailedAt, lastFailedAt }: Run, { failingAfter, failingHours }: FailingPolicy): boolean {
  return failures >= failingAfter && lastFailedAt.getTime() - firstFailedAt.getTime() >= failingHours * HOUR_MS;
}
