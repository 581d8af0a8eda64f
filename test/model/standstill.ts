/**
 * The rule that a backlog never stands still: while a delivery is due, its lane may be served and its partner's share of a
 * poller's slots is not reached, a look of that poller finds work and its claim takes some, at that very moment. What a poller
 * holds is its memory, which lags behind the database here: records commit, and their slots are let go some steps later.
 */
import type { ReservedSql } from 'postgres';
import type { Pool, Sql } from '../../src/db/pool.ts';
import { armLanes, waitForWork } from '../support/arm-lanes.ts';
import { takeTurn } from '../../src/delivery/queue/claim.ts';
import { claimDue } from '../support/claim-due.ts';
import { record } from '../../src/delivery/queue/record.ts';
import type { Report } from '../../src/delivery/queue/report.ts';
import { Slots } from '../../src/delivery/queue/slots.ts';
import { DUE_FROM_EVER } from '../../src/delivery/queue/upkeep/due-mark.ts';
import { DELIVERED, reportFor } from '../support/delivered.ts';
import { commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';
import { createRandom, type Random } from '../support/random.ts';

const STEPS = 250;
const PARTNERS = 2;
const WEBHOOKS = 3;
const CAPACITIES = [16, 40];
const LOOK_ONCE = { ms: 0, napMs: 0 };

interface ModelPoller {
  readonly name: string;
  /** Of its own: what it has armed is its session's memory. */
  readonly session: ReservedSql;
  readonly capacity: number;
  readonly slots: Slots;
  sent: Report[];
  recorded: Report[];
}

/** What a partner may hold of a poller's slots, told anew: 8, or 16 for each slot that is free beside an eighth of all and one. */
const shareOf = ({ capacity, slots }: ModelPoller) => Math.max(8, 16 * (slots.free - 1 - Math.floor(capacity / 8)));

const heldOf = ({ sent, recorded }: ModelPoller, partnerId: string) =>
  [...sent, ...recorded].filter((report) => report.partnerId === partnerId).length;

class Standstill {
  readonly #pool: Pool;
  readonly #sql: Sql;
  readonly #random: Random;
  readonly #partners: string[] = [];
  #nowMs = Date.now() + 60_000;
  #claims = 0;

  constructor(pool: Pool, sql: Sql, seed: number) {
    this.#pool = pool;
    this.#sql = sql;
    this.#random = createRandom(seed);
  }

  async run(): Promise<void> {
    for (let partner = 0; partner < PARTNERS; partner += 1) {
      const partnerId = await insertPartner(this.#sql);
      this.#partners.push(partnerId);
      for (let webhook = 0; webhook < WEBHOOKS; webhook += 1) {
        await insertWebhook(this.#sql, partnerId, 'https://partner.example/');
      }
      await commitEvents(this.#sql, partnerId, 40);
    }
    const pollers: ModelPoller[] = [];
    try {
      for (const capacity of CAPACITIES) {
        const session = await this.#sql.reserve();
        pollers.push({ name: `p${capacity}`, session, capacity, slots: new Slots(capacity), sent: [], recorded: [] });
      }
      for (let step = 0; step < STEPS; step += 1) await this.#step(this.#random.pick(pollers));
      await this.#drain(pollers);
    } finally {
      for (const { session } of pollers) session.release();
    }
  }

  async #step(poller: ModelPoller): Promise<void> {
    this.#nowMs += 1;
    const choice = this.#random.below(100);
    if (choice < 50) await this.#turn(poller);
    else if (choice < 75) await this.#record(poller, this.#random.below(poller.sent.length + 1));
    else if (choice < 97) this.#letGo(poller, this.#random.below(poller.recorded.length + 1));
    else await commitEvents(this.#sql, this.#random.pick(this.#partners), 10);
  }

  /** Looks, and takes a poller's turn: whole, or by its long way alone. */
  async #turn(poller: ModelPoller): Promise<void> {
    const { name, session, slots } = poller;
    if (slots.free === 0) return;
    const now = new Date(this.#nowMs);
    const shares = slots.shares();
    const [look] = (await waitForWork(session, LOOK_ONCE, now, DUE_FROM_EVER, shares.sated)) as {
      wait_for_work: boolean;
    }[];
    const isWhole = this.#random.chance(0.5);
    if (!isWhole) await armLanes(session, now);
    const open = (await this.#openPartners()).filter((id) => heldOf(poller, id) < shareOf(poller));
    if (open.length > 0 && look?.wait_for_work !== true) throw new Error('it stands still: a look finds no work');
    const claim = `${name}/${(this.#claims += 1)}`;
    await session`begin`;
    const claims = isWhole ? takeTurn : claimDue;
    const { deliveries } = await claims(session, claim, slots.free, now, DUE_FROM_EVER, shares);
    await session`commit`;
    if (open.length > 0 && deliveries.length === 0) throw new Error('it stands still: a claim takes nothing');
    slots.take(claim, deliveries, this.#nowMs);
    poller.sent.push(...deliveries.map((delivery) => reportFor(delivery, claim, DELIVERED)));
  }

  /** Whose deliveries are due on a lane that has a free slot. */
  async #openPartners(): Promise<string[]> {
    const rows = await this.#sql<{ id: string }[]>`
      select distinct l.partner_id as id
      from lanes l
      where exists (select from deliveries d where d.webhook_id = l.webhook_id and d.status = 'pendente' and d.claimed_at is null)
        and (select count(*) from deliveries d where d.webhook_id = l.webhook_id and d.claimed_at is not null)
            < least(l.max_in_flight, floor(l.window_size))`;
    return rows.map(({ id }) => id);
  }

  async #record(poller: ModelPoller, count: number): Promise<void> {
    const reports = poller.sent.splice(0, count);
    if (reports.length === 0) return;
    await record(this.#pool, reports, () => 0, new Date(this.#nowMs));
    poller.recorded.push(...reports);
  }

  #letGo(poller: ModelPoller, count: number): void {
    poller.slots.letGo(poller.recorded.splice(0, count));
  }

  async #drain(pollers: readonly ModelPoller[]): Promise<void> {
    const left = async () => (await this.#sql`select from deliveries where status = 'pendente' limit 1`).length > 0;
    while (await left()) {
      for (const poller of pollers) {
        await this.#turn(poller);
        await this.#record(poller, poller.sent.length);
        this.#letGo(poller, poller.recorded.length);
      }
    }
  }
}

export const neverStandStill = (pool: Pool, sql: Sql, seed: number): Promise<void> =>
  new Standstill(pool, sql, seed).run();
