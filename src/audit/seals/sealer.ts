/**
 * The sealer inside `api` and `poll`. Any number of processes may run it; one works at a time, and together they seal every half
 * minute (seal.ts). Pollers behind the first check every three minutes, from the fifth on every six: otherwise thirty of them take
 * half a per cent of a core.
 * Each batch reads again the pages that autovacuum has not summarised, so shorter intervals cost more. A row is sealed at most 40 s
 * after its commit, unless an older transaction is open, or the only `api` or first poller has just died.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../../db/pool.ts';
import { logFailedTry } from '../../db/outage-log.ts';
import { faultBehind } from '../../db/write-faults.ts';
import { signHead } from '../checkpoint/stored.ts';
import type { Signer } from '../checkpoint/note.ts';
import type { Logger } from '../../log-lines.ts';
import { type SealBatch, sealBatch, startWidth } from './seal.ts';

export const EVERY_MS = 30_000;
/** Between the batches of a backlog it rests this many times as long as the batch took, so that writers go first. */
const RESTS = 4;
const AFTER_FAULT_MS = 10_000;

export interface SealerDeps {
  readonly pool: Pool;
  readonly log: Logger;
  /** Empty: nothing is signed. */
  readonly signers?: readonly Signer[];
  /** Below 1 while another process seals every half minute. */
  readonly rate?: () => number;
}

/** Seals until `signal` is aborted, through outages too. */
export async function runSealer(
  { pool, log, signers = [], rate = () => 1 }: SealerDeps,
  signal: AbortSignal,
): Promise<void> {
  const width = startWidth();
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
  let more = false;
  while (!signal.aborted) {
    try {
      const startedMs = performance.now();
      const restMs: number = more ? 0 : EVERY_MS / 2;
      const batch: SealBatch = await pool.transaction((tx) => sealBatch(tx, width, { restMs }));
      ({ more } = batch);
      if (!more) await pool.transaction((tx) => signHead(tx, signers));
      const pauseMs = (EVERY_MS * (0.75 + Math.random() / 2)) / rate();
      await pause(more ? (performance.now() - startedMs) * RESTS : pauseMs);
    } catch (error) {
      const fault = await faultBehind(pool, error);
      logFailedTry(log, fault, 'the database is out of reach, sealing later', 'rows could not be sealed');
      await pause(AFTER_FAULT_MS);
    }
  }
}

/** Seals all rows that are settled now; returns how many seals and rows that made. */
export async function sealAll(pool: Pool): Promise<{ seals: number; rows: number }> {
  const width = startWidth();
  const sum = { seals: 0, rows: 0 };
  for (;;) {
    const { rows, more } = await pool.transaction((tx) => sealBatch(tx, width));
    sum.seals += rows > 0 ? 1 : 0;
    sum.rows += rows;
    if (!more) return sum;
  }
}
