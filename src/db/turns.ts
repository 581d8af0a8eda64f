/** Work in turns, for as long as a process lives. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log-lines.ts';
import { logFailedTry } from './outage-log.ts';

export interface Turns {
  readonly log: Logger;
  /** The rest after a turn that failed. */
  readonly afterFaultMs: number;
  /** What is logged of a turn that failed: while the database is away, and else. */
  readonly away: string;
  readonly fault: string;
}

/** Takes turns until `signal` is aborted, through outages too. Each says how many ms to rest after it. */
export async function takeTurns(
  { log, afterFaultMs, away, fault }: Turns,
  signal: AbortSignal,
  turn: () => Promise<number>,
): Promise<void> {
  while (!signal.aborted) {
    const restMs = await turn().catch((error: unknown) => {
      logFailedTry(log, error, away, fault);
      return afterFaultMs;
    });
    if (restMs > 0) await sleep(restMs, undefined, { signal }).catch(() => undefined);
  }
}
