/**
 * How a process works through an outage of its database and logs it: each part's first failed try with its reason, then every ten seconds
 * the number of failures since.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogFields, Logger } from '../log-lines.ts';
import { codeOf, DatabaseUnavailable, isUnavailable } from './unavailable.ts';

const EVERY_MS = 10_000;
/** An outage is over after this long without a failed try. Longer than every pause between tries. */
const OVER_AFTER_MS = 15_000;

interface Outage {
  readonly startedMs: number;
  readonly logged: Set<string>;
  loggedMs: number;
  failedMs: number;
  unlogged: number;
}

const outages = new WeakMap<Logger, Outage>();

/** Logs or counts that the database did not answer; `what` says what waits for it. */
export function logUnavailable(log: Logger, error: unknown, what: string, monotonicMs = () => performance.now()): void {
  const nowMs = monotonicMs();
  const { code, reason } = reasonOf(error);
  const known = outages.get(log);
  const isOver = known === undefined || nowMs - known.failedMs > OVER_AFTER_MS;
  const outage = isOver
    ? { startedMs: nowMs, logged: new Set<string>(), loggedMs: nowMs, failedMs: nowMs, unlogged: 0 }
    : known;
  outages.set(log, outage);
  outage.failedMs = nowMs;
  const isNew = !outage.logged.has(what) || !outage.logged.has(reason);
  if (isNew) {
    outage.logged.add(what).add(reason);
    log.warn({ code, reason }, what);
    return;
  }
  outage.unlogged += 1;
  if (nowMs - outage.loggedMs < EVERY_MS) return;
  const fields = { code, reason, failed_tries: outage.unlogged, for_s: Math.round((nowMs - outage.startedMs) / 1_000) };
  log.warn(fields, 'the database is still out of reach');
  outage.unlogged = 0;
  outage.loggedMs = nowMs;
}

/** Logs failed work that will be retried: `passing` in an outage, `fault` for an error of ours. */
export function logFailedTry(
  log: Logger,
  error: unknown,
  passing: string,
  fault = passing,
  monotonicMs?: () => number,
): void {
  if (isUnavailable(error)) logUnavailable(log, error, passing, monotonicMs);
  else log.error({ code: codeOf(error), error: (error as Error).message }, fault);
}

/** The pause before another try after `error`: `usualMs`, or until the server is asked again. */
export function restAfter(error: unknown, usualMs: number): number {
  return Math.max(usualMs, error instanceof DatabaseUnavailable ? error.againInMs : 0);
}

export interface LoopOptions {
  readonly log: Logger;
  /** The pause after a failed step, in ms. */
  readonly afterFaultMs: number;
  /** The log lines of a failed step: in an outage, and otherwise. */
  readonly away: string;
  readonly fault: string;
}

/** Repeats `step` until `signal` is aborted, through outages too. Each step returns the ms to its next. */
export async function runLoop(
  { log, afterFaultMs, away, fault }: LoopOptions,
  signal: AbortSignal,
  step: () => Promise<number>,
): Promise<void> {
  while (!signal.aborted) {
    const restMs = await step().catch((error: unknown) => {
      // A step that the stop has cut off is no outage.
      if (!signal.aborted || !isUnavailable(error)) logFailedTry(log, error, away, fault);
      return afterFaultMs;
    });
    if (restMs > 0) await sleep(restMs, undefined, { signal }).catch(() => undefined);
  }
}

/** The result of `work`; null when it failed, which is logged. Throws in an outage. */
export async function orLogged<T>(
  log: Logger,
  fields: LogFields,
  what: string,
  work: () => Promise<T>,
): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (isUnavailable(error)) throw error;
    log.error({ ...fields, err: error }, what);
    return null;
  }
}

/** The server's or socket's error, which pool and libraries have wrapped. */
function reasonOf(error: unknown): { readonly code: string | undefined; readonly reason: string } {
  let inner = error;
  while ((inner as Error).cause instanceof Error) inner = (inner as Error).cause;
  const { message, errors } = inner as AggregateError;
  // Node's error for a name with several addresses has no message of its own.
  return { code: codeOf(inner), reason: message === '' && errors ? (errors[0] as Error).message : message };
}
