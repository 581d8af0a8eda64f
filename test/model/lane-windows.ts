/** The lanes' windows as the database has them, against what the model makes of what was told of answers. */
import type { Sql } from '../../src/db/pool.ts';
import { gatherAnswers } from '../../src/delivery/queue/answers.ts';
import type { Report } from '../../src/delivery/queue/report.ts';
import { nextWindow, type Pace, type Told } from './window.ts';

interface Lane extends Pace {
  readonly webhookId: string;
  readonly ceiling: number;
  readonly inFlight: number;
}

export class LaneWindows {
  readonly #sql: Sql;
  readonly #told = new Map<string, Omit<Told, 'inFlight'>>();
  readonly #windows = new Map<string, number>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** What a record told. */
  hear(reports: readonly Report[]): void {
    for (const { webhookId, isSilent, good, bad, goodMs } of gatherAnswers(reports)) {
      const before = this.#told.get(webhookId) ?? { isSilent: false, good: 0, bad: 0, goodMs: 0 };
      this.#told.set(webhookId, {
        isSilent: before.isSilent || isSilent,
        good: before.good + good,
        bad: before.bad + bad,
        goodMs: before.goodMs + goodMs,
      });
    }
  }

  /** Arms by `arm`. Returns the webhook whose window is not what the model says, with both, or null. */
  async armed(arm: () => Promise<unknown>): Promise<{ readonly webhookId: string; readonly what: string } | null> {
    const before = await this.#read();
    await arm();
    const after = new Map((await this.#read()).map((lane) => [lane.webhookId, lane]));
    let wrong: { webhookId: string; what: string } | null = null;
    for (const lane of before) {
      const expected = Math.fround(this.#expected(lane).window);
      const { window = Number.NaN } = after.get(lane.webhookId) ?? {};
      this.#windows.set(lane.webhookId, window);
      if (window !== expected) wrong = { webhookId: lane.webhookId, what: `window is ${window}, must be ${expected}` };
    }
    this.#told.clear();
    return wrong;
  }

  /** How many of its deliveries may be in flight. */
  of(webhookId: string): number {
    return Math.floor(this.#windows.get(webhookId) ?? Number.NaN);
  }

  #expected(lane: Lane): Pace {
    const told = this.#told.get(lane.webhookId);
    if (told === undefined) return lane;
    const isMoved = told.isSilent || told.bad > 0 || lane.inFlight >= Math.floor(Math.min(lane.window, lane.ceiling));
    return isMoved ? nextWindow(lane, lane.ceiling, { ...told, inFlight: lane.inFlight }) : lane;
  }

  #read(): Promise<Lane[]> {
    const sql = this.#sql;
    return sql<Lane[]>`
      select webhook_id as "webhookId", max_in_flight as ceiling, in_flight as "inFlight", window_size::float8 as window,
             quick_to::float8 as "quickTo", answers::float8, answers_ms::float8 as "answersMs", best_ms::float8 as "bestMs"
      from lanes`;
  }
}
