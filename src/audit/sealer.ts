/**
 * The sealer at work inside `api` and `poll`: a turn every few seconds, at once again while there is a backlog. Any
 * number of them may run; one works at a time (seal.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isUnavailable, type Pool } from '../db/pool.ts';
import type { Logger } from '../log-lines.ts';
import { sealTurn, startCursor } from './seal.ts';

/** With several sealers one of them comes sooner. A row waits for this and for the writers that were open beside it. */
const EVERY_MS = 5_000;
const AFTER_FAULT_MS = 30_000;

export interface SealerDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly everyMs?: number;
}

/** Seals until `signal` is aborted; carries on by itself through outages. */
export async function runSealer({ pool, log, everyMs = EVERY_MS }: SealerDeps, signal: AbortSignal): Promise<void> {
  const cursor = startCursor();
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
  while (!signal.aborted) {
    try {
      const { more } = await pool.transaction((tx) => sealTurn(tx, cursor));
      if (!more) await pause(everyMs * (0.75 + Math.random() / 2));
    } catch (error) {
      const fields = { code: (error as { code?: unknown }).code ?? (error as Error).name };
      if (isUnavailable(error)) log.warn(fields, 'the database is out of reach, sealing later');
      else log.error({ ...fields, error: (error as Error).message }, 'rows could not be sealed');
      await pause(AFTER_FAULT_MS);
    }
  }
}

/** Seals all that is settled now; returns how much that was. */
export async function sealAll(pool: Pool): Promise<{ seals: number; rows: number }> {
  const cursor = startCursor();
  const sum = { seals: 0, rows: 0 };
  for (;;) {
    const { seals, rows, more } = await pool.transaction((tx) => sealTurn(tx, cursor));
    sum.seals += seals;
    sum.rows += rows;
    if (!more) return sum;
  }
}
