/**
 * Imports a lender's history: a file of events becomes a part of the log, batch by batch, while the system runs.
 *
 * Invariant: a batch is one transaction (append-batch.ts), and a repeated event changes nothing, so an interrupted run is
 * repeated with the same file. The load is small: one connection, short batches (an open transaction delays the feed), at most
 * `rate` events a second. It projects its events, unless another process does, and waits while seals or projection are far
 * behind.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, Tx } from '../../db/pool.ts';
import { codeOf } from '../../db/unavailable.ts';
import type { Logger } from '../../log-lines.ts';
import { readClock } from '../../log/read.ts';
import { projectBatch } from '../projection/projector.ts';
import { type Appended, appendBatch, type BatchOptions, type LineWarning } from './append-batch.ts';
import { BadLine, batchesOf, type HistoryLine, readHistoryLines } from './history-lines.ts';

/** Lost against another transaction: of this one nothing is there. CT409 without a line is a stream that was appended to meanwhile. */
const LOST = new Set(['40001', '40P01', 'CT409']);
const TRIES = 5;
/** Events that the projector may be behind. */
const BEHIND = 50_000;
/** A row is sealed within 40 s where the sealer keeps up. */
const UNSEALED_S = 180;
/** A sealer without a seal for this time does not run, so the import does not wait for it. */
const SEALER_IS_GONE_S = 120;
const CHECK_EVERY_MS = 10_000;
const LONGEST_WAIT_MS = 60_000;

/** The pace beside a running system: short batches, and a rest after each. */
export const USUAL_PACE = { batch: 100, rate: 1_000 } as const;

export interface ImportOptions extends Omit<BatchOptions, 'beganAt'> {
  readonly batch: number;
  /** New events a second at most; 0: as fast as it goes. */
  readonly rate: number;
}

interface Done {
  readonly line: number;
  readonly events: number;
  readonly appended: number;
}

export interface ImportProgress extends Done {
  /** What it waits for; null while it reads on. */
  readonly waitsFor: string | null;
}

/** `stopped`: at a line that does not fit; null at the end of the file. */
export interface Imported extends Done {
  readonly stopped: { readonly line: number; readonly reason: string } | null;
}

export interface ImportDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly onProgress?: (progress: ImportProgress) => void;
  readonly onWarning?: (warning: LineWarning) => void;
}

/** Imports the file. Throws when the database does not answer; what was reported as in is in. */
export async function importHistory(
  { pool, log, onProgress = () => undefined, onWarning = () => undefined }: ImportDeps,
  bytes: AsyncIterable<Buffer>,
  { batch, rate, closedUntil }: ImportOptions,
): Promise<Imported> {
  const options = { closedUntil, beganAt: await pool.run(readClock) };
  const done = { line: 0, events: 0, appended: 0 };
  const report = (waitsFor: string | null) => onProgress({ ...done, waitsFor });
  const projectAll = async () => {
    while ((await projectBatch({ pool, log })).more);
  };
  let lookedMs = performance.now();
  try {
    for await (const lines of batchesOf(soundLines(readHistoryLines(bytes)), batch)) {
      const startedMs = performance.now();
      // What the batches before it brought is passed by the projector meanwhile, on a connection of its own.
      const work = [appendPatiently(pool, lines, options), projectAll()] as const;
      await Promise.allSettled(work);
      const [{ appended, warnings }] = await Promise.all(work);
      for (const warning of warnings) onWarning(warning);
      done.line = lines.at(-1)?.number ?? done.line;
      done.events += lines.length;
      done.appended += appended;
      report(null);
      if (rate > 0) await sleep(Math.max((appended / rate) * 1_000 - (performance.now() - startedMs), 0));
      if (performance.now() - lookedMs < CHECK_EVERY_MS) continue;
      await waitForFollowers(pool, log, report);
      lookedMs = performance.now();
    }
  } catch (error) {
    if (!(error instanceof BadLine)) throw error;
    return { ...done, stopped: { line: error.line, reason: error.message } };
  }
  await projectAll();
  return { ...done, stopped: null };
}

/** Throws the first {@link BadLine}. */
async function* soundLines(lines: AsyncIterable<HistoryLine | BadLine>): AsyncGenerator<HistoryLine> {
  for await (const line of lines) {
    if (line instanceof BadLine) throw line;
    yield line;
  }
}

async function appendPatiently(pool: Pool, lines: readonly HistoryLine[], options: BatchOptions): Promise<Appended> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await appendBatch(pool, lines, options);
    } catch (error) {
      if (tries === TRIES || !LOST.has(codeOf(error) ?? '')) throw error;
      await sleep(100 * tries);
    }
  }
}

/** Waits while a follower of the log is far behind and comes nearer, a minute at most each time. */
async function waitForFollowers(pool: Pool, log: Logger, report: (waitsFor: string) => void): Promise<void> {
  const startedMs = performance.now();
  while (performance.now() - startedMs < LONGEST_WAIT_MS) {
    const reason = await pool.run(readBehind);
    if (reason === null) return;
    report(reason);
    await sleep(1_000);
    while ((await projectBatch({ pool, log })).more);
  }
}

async function readBehind(sql: Tx): Promise<string | null> {
  const [{ behind, unsealed }] = await sql<[{ behind: number; unsealed: number | null }]>`
    with last as (
      select end_epoch, end_tx from seals
      where sealed_at > clock_timestamp() - ${SEALER_IS_GONE_S} * interval '1 second'
      order by number desc
      limit 1
    )
    select (select h.position - l.position
            from projections l, (select position from history_batches order by epoch desc, tx desc limit 1) h
            where l.name = 'loans')::float8 as behind,
           (select extract(epoch from clock_timestamp() - min(uuid_extract_timestamp(e.id)))
            from last, events e
            where e.epoch = last.end_epoch and xid8send(e.tx)::bigint >= last.end_tx)::float8 as unsealed`;
  if (behind > BEHIND) return `the projection, which is ${behind} events behind`;
  if ((unsealed ?? 0) > UNSEALED_S) return `the seals, which are ${Math.round(unsealed ?? 0)} s behind`;
  return null;
}
