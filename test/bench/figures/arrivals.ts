/** Commits at a steady rate, and how long after them their POSTs arrive. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../../src/db/pool.ts';
import { monotonicMs } from '../harness/clock.ts';
import type { Arrival, Receiver } from '../harness/receiver.ts';
import { connect } from '../harness/server.ts';
import { percentile } from '../harness/statistics.ts';
import { createRandom } from '../../support/random.ts';

/** Commits what makes the POST whose body carries `id`. */
export type Write = (sql: Sql, id: string, index: number) => Promise<void>;

export interface Rate {
  readonly url: string;
  /** Events a second, at random times (Poisson). */
  readonly rate: number;
  readonly seconds: number;
  readonly seed: number;
  readonly write: Write;
  readonly report?: (text: string) => void;
}

const WRITERS = 4;
const FLAT_OUT_WRITERS = 8;

/** When each event's commit had returned, by its id. Events are never left out: a late writer catches up. */
export async function appendAtRate({ url, rate, seconds, seed, write, report }: Rate): Promise<Map<string, number>> {
  const sql = connect(url, WRITERS);
  const random = createRandom(seed).next;
  const commits = new Map<string, number>();
  const open: Promise<void>[] = [];
  const count = Math.round(rate * seconds);
  const startedMs = monotonicMs();
  let dueMs = startedMs;
  try {
    for (let index = 0; index < count; index += 1) {
      dueMs += (-Math.log(1 - random()) * 1_000) / rate;
      const waitMs = dueMs - monotonicMs();
      if (waitMs > 0.5) await sleep(waitMs);
      const id = randomUUID();
      open.push(write(sql, id, index).then(() => void commits.set(id, monotonicMs())));
      if (index % rate === 0) report?.(`${index} of ${count} events`);
    }
    await Promise.all(open);
    return commits;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** As many events as eight connections commit in that time. Returns how many. */
export async function appendFlatOut(url: string, seconds: number, write: Write): Promise<number> {
  const sql = connect(url, FLAT_OUT_WRITERS);
  const until = performance.now() + seconds * 1_000;
  let count = 0;
  async function writer(): Promise<void> {
    while (performance.now() < until) await write(sql, randomUUID(), (count += 1));
  }
  try {
    await Promise.all(Array.from({ length: FLAT_OUT_WRITERS }, () => writer()));
    return count;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/**
 * What receivers feel of events at a rate: milliseconds from commit to arrival, and the share that has arrived; by then all, or with
 * `waitMs` what came so long after the last commit.
 */
export async function feel(receiver: Receiver, rate: Rate, waitMs: number | null = null) {
  await receiver.reset(true);
  const commits = await appendAtRate(rate);
  await (waitMs === null ? receiver.reached(commits.size) : sleep(waitMs));
  const latencies = latenciesOf(commits, await receiver.arrivals());
  const arrived = latencies.filter((ms) => Number.isFinite(ms)).length / commits.size;
  return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), arrived };
}

/** Milliseconds from each event's commit to its first arrival; an arrival before the commit was told counts as 0. */
export function latenciesOf(commits: ReadonlyMap<string, number>, arrivals: readonly Arrival[]): number[] {
  const first = new Map<string, number>();
  for (const { id, atMs } of arrivals) if (!first.has(id)) first.set(id, atMs);
  return [...commits].map(([id, committedMs]) => {
    const atMs = first.get(id);
    return atMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, atMs - committedMs);
  });
}
