import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../db/pool.ts';
import { FLIGHT_MS, countInFlight } from '../delivery/queue/orders/lane.ts';

const LOOK_EVERY_MS = 200;

/**
 * Waits until nothing of these webhooks is in flight, for FLIGHT_MS at most: by then every POST under way has ended. Returns how many were.
 * `tell` gets a sentence at each look.
 */
export async function untilLanded(
  pool: Pool,
  webhookIds: readonly string[],
  tell: (sentence: string) => void,
): Promise<number> {
  const startedMs = performance.now();
  let waitedFor = 0;
  for (;;) {
    const count = await pool.run((sql) => countInFlight(sql, webhookIds));
    waitedFor = Math.max(waitedFor, count);
    const passedMs = performance.now() - startedMs;
    if (count === 0 || passedMs > FLIGHT_MS) return waitedFor;
    tell(`${count} deliveries are in flight; the last ends in ${Math.ceil((FLIGHT_MS - passedMs) / 1_000)} s`);
    await sleep(LOOK_EVERY_MS);
  }
}
