/**
 * The sealer at work inside `api` and `poll`. Any number of them may run; one works at a time, and one seals every half
 * minute (seal.ts).
 *
 * Seldom is cheap: each turn reads anew the pages that autovacuum has not summarised yet, a minute's worth, which every
 * five seconds cost a third of the sealer's time. A row is sealed 40 s after its commit at the latest, and after the
 * transactions that were open beside it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../db/pool.ts';
import { logFailedTry } from '../db/unavailable.ts';
import type { Logger } from '../log-lines.ts';
import { type SealTurn, sealTurn, startCursor } from './seal.ts';

const EVERY_MS = 30_000;
/** Between the turns of a backlog it rests this many times as long as the turn took: the writers go first. */
const RESTS = 4;
const AFTER_FAULT_MS = 10_000;

export interface SealerDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly everyMs?: number;
}

/** Seals until `signal` is aborted; carries on by itself through outages. */
export async function runSealer({ pool, log, everyMs = EVERY_MS }: SealerDeps, signal: AbortSignal): Promise<void> {
  const cursor = startCursor();
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
  let more = false;
  while (!signal.aborted) {
    try {
      const startedMs = performance.now();
      const restMs: number = more ? 0 : everyMs / 2;
      const turn: SealTurn = await pool.transaction((tx) => sealTurn(tx, cursor, { restMs }));
      ({ more } = turn);
      await pause(more ? (performance.now() - startedMs) * RESTS : everyMs * (0.75 + Math.random() / 2));
    } catch (error) {
      logFailedTry(log, error, 'the database is out of reach, sealing later', 'rows could not be sealed');
      await pause(AFTER_FAULT_MS);
    }
  }
}

/** Seals all that is settled now; returns how much that was. */
export async function sealAll(pool: Pool): Promise<{ seals: number; rows: number }> {
  const cursor = startCursor();
  const sum = { seals: 0, rows: 0 };
  for (;;) {
    const { rows, more } = await pool.transaction((tx) => sealTurn(tx, cursor));
    sum.seals += rows > 0 ? 1 : 0;
    sum.rows += rows;
    if (!more) return sum;
  }
}
