/** How a lane's window moves in the database, by what records tell and by what claims count. */
import type { Pool, Sql } from '../../src/db/pool.ts';
import { gatherAnswers } from '../../src/delivery/queue/answers.ts';
import { freeSlots } from '../../src/delivery/queue/arrivals.ts';
import { armLanes } from '../support/arm-lanes.ts';
import { DELIVERED } from '../support/delivered.ts';
import { startHeldPoller } from '../support/held-poller.ts';
import { commitEvents, insertSubscriber } from '../support/outbox.ts';

const CEILING = 20;
const HIGHER = 60;
const DURATION_MS = 50;

/** A lane that is told of answers by hand, as if a claim had left so many in flight: as many as its window has, by default. */
class ToldLane {
  readonly #sql: Sql;
  readonly #webhook: { readonly webhookId: string; readonly partnerId: string };

  private constructor(sql: Sql, webhookId: string, partnerId: string) {
    this.#sql = sql;
    this.#webhook = { webhookId, partnerId };
  }

  static async make(sql: Sql): Promise<ToldLane> {
    const { partnerId, id } = await insertSubscriber(sql);
    return new ToldLane(sql, id, partnerId);
  }

  async set(ceiling: number): Promise<void> {
    await this.#sql`update lanes set max_in_flight = ${ceiling}`;
  }

  async window(): Promise<number> {
    const [row] = await this.#sql<[{ size: number }]>`select window_size as size from lanes`;
    return row.size;
  }

  /** Tells of `count` answers with this status; returns the window after it. */
  async tell(status: number, count: number, inFlight: number | null = null, durationMs = DURATION_MS): Promise<number> {
    await this.#sql`update lanes set in_flight = coalesce(${inFlight}::int, floor(window_size)::int)`;
    const result = { ...DELIVERED, statusCode: status, durationMs };
    await freeSlots(this.#sql, gatherAnswers(Array.from({ length: count }, () => ({ ...this.#webhook, result }))));
    await armLanes(this.#sql, null);
    return this.window();
  }

  /** Tells of as many good answers as its window has, so many times; returns the most that it was. */
  async fill(rounds: number, durationMs = DURATION_MS): Promise<number> {
    let most = 0;
    for (let round = 0; round < rounds; round += 1) {
      most = Math.max(most, await this.tell(200, Math.floor(await this.window()), null, durationMs));
    }
    return most;
  }
}

/** Up to the ceiling, down by refusals, up again, and down by rising times. */
export async function moveWindow(_pool: Pool, sql: Sql): Promise<void> {
  const lane = await ToldLane.make(sql);
  await lane.set(CEILING);
  const most = await lane.fill(12);
  if (most > CEILING) throw new Error(`the window is ${most}, over its ceiling`);
  if (most < CEILING) throw new Error(`the window is ${most}, and never recovers`);
  await lane.set(HIGHER);
  if ((await lane.tell(200, 5, HIGHER)) > CEILING) throw new Error('the window grew by what left before it fell');
  const refused = await lane.tell(503, 2);
  if (refused > CEILING) throw new Error('a refusal raised the window');
  if (refused === CEILING) throw new Error('refusals are ignored');
  const again = await lane.tell(503, 2, CEILING);
  if (again < refused) throw new Error('the window fell twice for what was in flight together');
  if ((await lane.tell(503, HIGHER)) !== 1) throw new Error('refusals of all are ignored in part');
  const back = await lane.fill(90);
  if (back < HIGHER) throw new Error(`the window is ${back} after refusals, and never recovers`);
  await lane.fill(4, DURATION_MS * 10);
  if ((await lane.window()) >= HIGHER / 2) throw new Error('rising times are ignored');
}

/** A poller fills the lane of a webhook that answers; then one attempt is answered by nobody, for long. */
export async function fillWindow(pool: Pool, sql: Sql): Promise<void> {
  const { partnerId } = await insertSubscriber(sql);
  await commitEvents(sql, partnerId, 1);
  const startMs = Date.now() + 60_000;
  const lingering = startHeldPoller(pool, 'lingering', 512, startMs);
  const poller = startHeldPoller(pool, 'one', 512, startMs);
  await lingering.fill();
  await commitEvents(sql, partnerId, 400);
  for (let round = 0; round < 8; round += 1) {
    await poller.fill();
    await poller.end(DELIVERED);
  }
  await poller.fill(1);
  if (poller.flying() <= 8) throw new Error(`${poller.flying()} in flight to one that answers: its window never grows`);
  await poller.end(DELIVERED);
  await poller.fill(6);
  if (poller.flying() !== 7) throw new Error(`${poller.flying()} in flight beside an attempt that lingers`);
}
