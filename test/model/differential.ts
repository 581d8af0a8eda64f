/**
 * The engine's SQL against the model: the same seeded steps on both, many deliveries at a time, compared after each.
 * Which of the due deliveries a claim takes is the SQL's own choice; that it took only due ones, kept the cap, and in
 * the end leaves none behind, is checked. The clock is injected.
 */
import type { Pool, Sql } from '../../src/db/pool.ts';
import { advanceTime } from '../../src/delivery/partner/advance.ts';
import { type ClaimedDelivery, clearClaims } from '../../src/delivery/queue/claim.ts';
import { rescueOverdue } from '../../src/delivery/queue/rescuer.ts';
import { record } from '../../src/delivery/queue/record.ts';
import { putOff, withdraw } from '../../src/delivery/queue/release.ts';
import type { Report } from '../../src/delivery/queue/report.ts';
import { suspendUnclaimed } from '../../src/delivery/queue/orders/suspend.ts';
import { commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';
import { createRandom, type Random } from '../support/random.ts';
import { reportFor } from '../support/delivered.ts';
import { claimDue } from '../support/poll.ts';
import {
  born,
  type Effect,
  isDue,
  isFlying,
  isLost,
  isOpenToClaims,
  LEASE_MS,
  nextMoment,
  type Life,
  type Step,
  take,
} from './delivery-model.ts';
import { type Compared, compare, Divergence, readBoth, type Tracked } from './differential-rows.ts';

const POLLER = 'poller';
const PARTNERS = 2;
const WEBHOOKS = 8;
const CAP = 8;
const EVENTS = 14;
const DEACTIVATE_EVERY = 40;
/** So many slots that each lane's share is more than its cap. */
const PLENTY = 1_000;
/** `entregue`, `erro`, `suspensa`. */
const ENDS = 3;
const FAILED = { outcome: 'resposta_nao_2xx', statusCode: 500 };
/** Mostly failures that leave a window as it is: with one slot each, little would happen in so many steps. */
const FAILURES = [
  ...Array.from({ length: 9 }, () => FAILED),
  { outcome: 'resposta_nao_2xx', statusCode: 503 },
  { outcome: 'erro_conexao', statusCode: null },
  { outcome: 'tempo_esgotado', statusCode: null },
];

/** What a poller remembers of one claimed delivery. */
interface Ticket {
  readonly delivery: ClaimedDelivery;
  readonly claim: string;
  readonly claimedAt: number;
  /** How it ended, once it was sent. */
  sent: {
    readonly startedAt: number;
    readonly durationMs: number;
    readonly outcome: string;
    readonly statusCode: number | null;
  } | null;
}

export class Differential {
  readonly #pool: Pool;
  readonly #sql: Sql;
  readonly #random: Random;
  readonly #lives = new Map<string, Tracked>();
  readonly #partners: string[] = [];
  readonly #active = new Map<string, boolean>();
  #tickets: Ticket[] = [];
  #claims = 0;
  #polls = 0;
  #now = Date.now() + 60_000;
  #webhooks = 0;
  /** Steps of single deliveries that were compared. */
  #steps = 0;
  readonly #ends: Record<string, number> = {};

  constructor(pool: Pool, sql: Sql, seed: number) {
    this.#pool = pool;
    this.#sql = sql;
    this.#random = createRandom(seed);
  }

  async #populate(webhooks: number): Promise<void> {
    this.#webhooks = webhooks;
    for (let partner = 0; partner < PARTNERS; partner += 1) {
      const partnerId = await insertPartner(this.#sql);
      this.#partners.push(partnerId);
      for (let webhook = 0; webhook < webhooks; webhook += 1) await this.#register(partnerId);
      await this.#append(partnerId);
    }
  }

  /** Every poller dies with what it claimed, until all is over. */
  async loseAll(): Promise<void> {
    await this.#populate(1);
    while (this.#lives.size > 0) {
      await this.#exhaust();
      this.#tickets = [];
      this.#retire();
      const later = [...this.#lives.values()].map(({ life }) => nextMoment(life)).filter((at) => at > this.#now);
      this.#now = later.length > 0 ? Math.ceil(Math.min(...later)) : this.#now + LEASE_MS;
    }
    const ended = Object.keys(this.#ends).join();
    if (ended !== 'erro') throw new Error(`deliveries that were only lost ended in ${ended}`);
  }

  /**
   * Takes at least `steps`, and more (three times as many at most) until deliveries have come to every end. Of each partner
   * there are `webhooks`.
   */
  async run(steps: number, webhooks = WEBHOOKS): Promise<void> {
    await this.#populate(webhooks);
    const isDone = () => this.#steps >= steps * (Object.keys(this.#ends).length < ENDS ? 3 : 1);
    while (!isDone()) await this.#poll();
    await this.#exhaust();
    const ended = Object.keys(this.#ends);
    if (ended.length < ENDS) throw new Error(`no delivery came to another end than ${ended.join()}`);
  }

  get #clock(): Date {
    return new Date(this.#now);
  }

  async #poll(): Promise<void> {
    this.#passTime();
    if ((this.#polls += 1) % DEACTIVATE_EVERY === 0) await this.#deactivate();
    const choice = this.#random.below(100);
    if (choice < 35) await this.#claim(this.#random.pick([5, 40, PLENTY]));
    else if (choice < 47) await this.#exhaust();
    else if (choice < 78) await this.#report();
    else if (choice < 85) await this.#release();
    else if (choice < 89) this.#tickets = this.#tickets.filter(() => this.#random.chance(0.5));
    else if (choice < 97) await this.#advance();
    else await this.#append(this.#random.pick(this.#partners));
  }

  async #register(partnerId: string): Promise<void> {
    const { id } = await insertWebhook(this.#sql, partnerId, 'https://partner.example/');
    await this.#sql`update lanes set max_in_flight = ${CAP} where webhook_id = ${id}`;
    this.#active.set(id, true);
  }

  async #append(partnerId: string): Promise<void> {
    if (this.#lives.size > 600) return;
    await commitEvents(this.#sql, partnerId, this.#random.pick([1, 2, EVENTS]));
    const rows = await this.#sql<{ id: string; webhookId: string; dueAt: number }[]>`
      select id, webhook_id as "webhookId", extract(epoch from next_attempt_at)::float8 * 1000 as "dueAt"
      from deliveries where attempts = 0 and failures = 0 and partner_id = ${partnerId} and status = 'pendente'`;
    for (const { id, webhookId, dueAt } of rows) {
      if (!this.#lives.has(id)) this.#lives.set(id, { id, webhookId, life: born(dueAt) });
    }
  }

  async #deactivate(): Promise<void> {
    const active = [...this.#active].filter(([, isActive]) => isActive).map(([id]) => id);
    if (active.length < PARTNERS * this.#webhooks * 0.75) return;
    const id = this.#random.pick(active);
    this.#active.set(id, false);
    await this.#sql`update webhooks set active = false where id = ${id}`;
    await this.#register(this.#random.pick(this.#partners));
  }

  #passTime(): void {
    const due = [...this.#lives.values()].map(({ life }) => nextMoment(life)).filter((at) => at > this.#now);
    const choice = this.#random.below(6);
    if (choice === 0 && due.length > 0) this.#now = Math.ceil(this.#random.pick(due)) - this.#random.below(2);
    else if (choice === 1) this.#now += this.#random.below(LEASE_MS * 2);
    else if (choice < 5) this.#now += this.#random.below(8_000);
  }

  #apply(expected: Map<string, Effect>, id: string, step: Step): Effect | null {
    const tracked = this.#lives.get(id);
    if (!tracked) return null;
    const before = expected.get(id);
    const effect = take(before?.life ?? tracked.life, step);
    expected.set(id, { ...effect, rows: [...(before?.rows ?? []), ...effect.rows] });
    this.#steps += 1;
    return effect;
  }

  /** Reads what the step did, compares, and makes the model's lives the new ones. Returns what the database had. */
  async #settle(what: string, expected: ReadonlyMap<string, Effect>): Promise<void> {
    const seen = await readBoth(this.#sql, [...this.#lives.keys()]);
    for (const tracked of this.#lives.values()) {
      const life = expected.get(tracked.id)?.life ?? tracked.life;
      compare(what, tracked.id, life, seen.get(tracked.id));
      this.#lives.set(tracked.id, { ...tracked, life });
    }
    this.#retire();
  }

  #retire(): void {
    const held = new Set(this.#tickets.map(({ delivery }) => delivery.id));
    for (const { id, life } of this.#lives.values()) {
      if (life.status === 'pendente' || held.has(id)) continue;
      this.#ends[life.status] = (this.#ends[life.status] ?? 0) + 1;
      this.#lives.delete(id);
    }
  }

  /** Claims once. Returns how many deliveries it changed. */
  async #claim(limit: number): Promise<number> {
    const claim = `${POLLER}/${(this.#claims += 1)}`;
    const now = this.#clock;
    const { deliveries, inactive } = await this.#pool.transaction((tx) => claimDue(tx, claim, limit, now));
    if (inactive.length > 0) await this.#pool.transaction((tx) => suspendUnclaimed(tx, inactive, now));
    await this.#pool.transaction((tx) => rescueOverdue(tx, now));
    const seen = await readBoth(this.#sql, [...this.#lives.keys()]);
    const expected = new Map<string, Effect>();
    const sent = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
    for (const { id, webhookId, life } of this.#lives.values()) {
      const row = seen.get(id);
      if (row && isUntouched(life, row) && !sent.has(id)) continue;
      const active = this.#active.get(webhookId) ?? false;
      if (!isOpenToClaims(life, this.#now, active)) {
        throw new Divergence('claim', 'a delivery that was not due was changed', id);
      }
      const step: Step =
        active && isLost(life, this.#now)
          ? { kind: 'end', now: this.#now }
          : { kind: 'claim', claim, now: this.#now, active };
      const effect = this.#apply(expected, id, step);
      const delivery = sent.get(id);
      if (effect?.sends !== (delivery !== undefined))
        throw new Divergence('claim', 'sent and must not, or not and must', id);
      if (delivery && delivery.number !== effect.life.attempts)
        throw new Divergence('claim', 'other attempt number', id);
      if (delivery) this.#tickets.push({ delivery, claim, claimedAt: this.#now, sent: null });
    }
    if (deliveries.length > limit) throw new Divergence('claim', 'more than the limit', claim);
    await this.#settle('claim', expected);
    this.#checkCaps();
    return expected.size;
  }

  #inFlight(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { webhookId, life } of this.#lives.values()) {
      if (isFlying(life, this.#now)) counts.set(webhookId, (counts.get(webhookId) ?? 0) + 1);
    }
    return counts;
  }

  #checkCaps(): void {
    for (const [webhookId, count] of this.#inFlight()) {
      if (count > CAP) throw new Divergence('claim', `${count} in flight, over the cap`, webhookId);
    }
  }

  /** Claims until nothing changes; then nothing that is due may be left where there is a free slot. */
  async #exhaust(): Promise<void> {
    while ((await this.#claim(PLENTY)) > 0);
    const inFlight = this.#inFlight();
    for (const { id, webhookId, life } of this.#lives.values()) {
      if (!isDue(life, this.#now)) continue;
      const isFull = (inFlight.get(webhookId) ?? 0) >= CAP;
      if (!isFull) throw new Divergence('claim', 'a due delivery is left behind: its lane sleeps', id);
    }
  }

  async #report(): Promise<void> {
    const tickets = this.#tickets.filter(() => this.#random.chance(0.4));
    for (const ticket of tickets) ticket.sent ??= this.#send(ticket);
    const reports = tickets.map((ticket) => ({ ticket, report: reportOf(ticket) }));
    if (reports.length === 0) return;
    const completions = await record(
      this.#pool,
      reports.map(({ report }) => report),
      () => this.#now,
      this.#clock,
    );
    const expected = new Map<string, Effect>();
    const isCurrent = ({ delivery: { id, number }, claim }: Ticket): boolean => {
      const life = this.#lives.get(id)?.life;
      return life?.claim === claim && life.attempts === number;
    };
    const inOrder = reports.toSorted((a, b) => Number(isCurrent(b.ticket)) - Number(isCurrent(a.ticket)));
    for (const { ticket, report } of inOrder) {
      const {
        delivery: { id, number },
        claim,
        sent,
      } = ticket;
      const { startedAt = 0, durationMs = 0, outcome = '' } = sent ?? {};
      const step: Step = {
        kind: 'report',
        claim,
        number,
        outcome,
        endedAt: Math.min(startedAt + durationMs, this.#now),
      };
      const effect = this.#apply(expected, id, step);
      const standing = completions.get(report)?.standing;
      if (effect && effect.standing !== standing) {
        throw new Divergence('record', `taken for ${standing}, is ${effect.standing}`, id);
      }
    }
    // One in five is told again: a flush whose commit was unknown.
    this.#tickets = this.#tickets.filter((ticket) => !tickets.includes(ticket) || this.#random.chance(0.2));
    await this.#settle('record', expected);
  }

  #send({ claimedAt }: Ticket): NonNullable<Ticket['sent']> {
    const startedAt = Math.min(this.#now, claimedAt + this.#random.below(14_000));
    const durationMs = Math.min(this.#random.below(30_000), this.#now - startedAt);
    const ending = this.#random.chance(0.1) ? { outcome: 'entregue', statusCode: 200 } : this.#random.pick(FAILURES);
    return { startedAt, durationMs, ...ending };
  }

  async #release(): Promise<void> {
    const unsent = this.#tickets.filter((ticket) => ticket.sent === null);
    if (unsent.length === 0) return;
    const { claim } = this.#random.pick(unsent);
    const isWhole = !this.#tickets.some((ticket) => ticket.claim === claim && ticket.sent !== null);
    const given = unsent.filter((ticket) => ticket.claim === claim && (isWhole || this.#random.chance(0.5)));
    const delayMs = isWhole ? 0 : this.#random.pick([0, 60_000]);
    const ids = given.map(({ delivery }) => delivery.id);
    const number = Number(claim.split('/')[1]);
    await this.#pool.transaction(async (tx) => {
      if (isWhole) {
        await clearClaims(tx, POLLER, number, number + 1);
        return;
      }
      await withdraw(tx, POLLER, number, ids);
      if (delayMs > 0) for (const { delivery } of given) await putOff(tx, delivery, delayMs / 1_000, this.#clock);
    });
    const expected = new Map<string, Effect>();
    for (const id of ids) this.#apply(expected, id, { kind: 'release', claim, now: this.#now, delayMs });
    this.#tickets = this.#tickets.filter((ticket) => !given.includes(ticket));
    // Deliveries of the claim that this poller forgot in a crash are released with it.
    if (isWhole) {
      for (const { id, life } of this.#lives.values()) {
        if (life.claim === claim && !ids.includes(id)) {
          this.#apply(expected, id, { kind: 'release', claim, now: this.#now, delayMs });
        }
      }
    }
    await this.#settle('release', expected);
  }

  async #advance(): Promise<void> {
    const partnerId = this.#random.pick(this.#partners);
    const seconds = this.#random.pick([30, 400, 4_000, 30_000]);
    await this.#pool.transaction((tx) => advanceTime(tx, partnerId, seconds, this.#clock));
    const mine = await this.#sql<{ id: string }[]>`select id from webhooks where partner_id = ${partnerId}`;
    const webhooks = new Set(mine.map((row) => row.id));
    const expected = new Map<string, Effect>();
    for (const { id, webhookId } of this.#lives.values()) {
      if (webhooks.has(webhookId))
        this.#apply(expected, id, { kind: 'advance', byMs: seconds * 1_000, now: this.#now });
    }
    await this.#settle('advance', expected);
    // Nothing else wakes their lanes.
    await this.#exhaust();
  }
}

function isUntouched(life: Life, row: Compared): boolean {
  return (
    row.attempts === life.attempts &&
    row.status === life.status &&
    row.failures === life.failures &&
    row.claim === life.claim
  );
}

function reportOf({ delivery, claim, sent }: Ticket): Report {
  if (sent === null) throw new Error('nothing was sent');
  const { startedAt: startedAtMs, outcome, statusCode, durationMs } = sent;
  const result = { outcome: outcome as 'entregue', statusCode, durationMs, address: null, error: null, answer: null };
  return { ...reportFor(delivery, claim, result), startedAtMs };
}
