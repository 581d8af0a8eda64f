/** A steady state without HTTP: deliveries come at a pace, are claimed and recorded, one batch while the next is claimed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { insertFanOut } from './backlog.ts';
import { openEngine } from './engine.ts';
import { connect } from './harness/server.ts';

const LIMIT = 512;
/** Deliveries that wait, more or less, while the engine works: what keeps every claim full. */
const WAITING = 1_000;
const FEEDERS = 2;

export interface Load {
  /** Deliveries recorded so far. */
  done: number;
  readonly claims: { readonly done: number; readonly atMs: number; readonly tookMs: number }[];
}

/** Brings `pace` deliveries a second at most, claims and records until `isOver`, and notes each claim in `load`. */
export async function drive(
  url: string,
  webhookIds: readonly string[],
  pace: number,
  load: Load,
  isOver: () => boolean,
): Promise<void> {
  const engine = openEngine(url);
  const feeder = connect(url, FEEDERS);
  let brought = 0;
  let claimed = 0;
  const startedMs = performance.now();
  const allowed = () => ((performance.now() - startedMs) / 1_000) * pace;
  async function feed(): Promise<void> {
    while (!isOver()) {
      if (brought - claimed > WAITING || brought > allowed()) await sleep(2);
      else {
        brought += webhookIds.length;
        await insertFanOut(feeder, webhookIds);
      }
    }
  }
  async function work(): Promise<void> {
    while (!isOver()) {
      load.done = engine.recorded();
      const slots = LIMIT - (claimed - load.done);
      if (slots <= 0) {
        await sleep(1);
        continue;
      }
      const { claim, deliveries, tookMs } = await engine.claim(slots);
      if (deliveries.length === 0) await sleep(1);
      else load.claims.push({ done: load.done, atMs: performance.now(), tookMs });
      claimed += deliveries.length;
      engine.record(claim, deliveries);
    }
    await engine.settled();
  }
  try {
    await Promise.all([...Array.from({ length: FEEDERS }, () => feed()), work()]);
  } finally {
    await Promise.all([engine.close(), feeder.end({ timeout: 5 })]);
  }
}
