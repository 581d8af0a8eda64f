/**
 * Webhooks that get their loans in order, put before whatever can happen to a delivery: one of a loan in flight at a time,
 * by version, and none that waits for ever. Times are virtual, an hour ahead of the clock.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, Sql, Tx } from '../../src/db/pool.ts';
import { type ClaimedDelivery } from '../../src/delivery/queue/claim.ts';
import { LEASE_S } from '../../src/delivery/queue/lease.ts';
import { rescueOverdue } from '../../src/delivery/queue/rescuer.ts';
import { cancelDelivery } from '../../src/delivery/queue/orders/cancel.ts';
import { setInOrder } from '../../src/delivery/queue/orders/lane.ts';
import { SUSPENDED_AT_ONCE, suspendUnclaimed } from '../../src/delivery/queue/orders/suspend.ts';
import { record } from '../../src/delivery/queue/record.ts';
import { endPoller } from '../../src/delivery/queue/maintenance/dead-pollers.ts';
import { withdraw } from '../../src/delivery/queue/release.ts';
import { resendOne } from '../../src/delivery/partner/resend.ts';
import {
  leaveToResume,
  leaveToSuspend,
  RESUMED_AT_ONCE,
  RESUMPTION_S,
  resumeWhile,
} from '../../src/delivery/partner/activation.ts';
import { Poller } from '../../src/delivery/poller/poller.ts';
import type { SendResult } from '../../src/delivery/sending/send.ts';
import { DELIVERED, reportFor } from '../support/delivered.ts';
import { commitEvents, insertSubscriber, openTestSecret } from '../support/outbox.ts';
import { createRandom, type Random } from '../support/random.ts';
import { silentLog } from '../support/silent-log.ts';
import { pollLanes } from '../support/poll.ts';

const STEPS = 900;
const LOANS = 4;
const AUTHOR = { actor: 'test', requestId: null };
const HOUR_MS = 3_600_000;

interface Held {
  readonly delivery: ClaimedDelivery;
  readonly claim: string;
}

interface Row {
  readonly id: string;
  readonly stream: string;
  readonly version: number;
  readonly status: string;
  readonly isClaimed: boolean;
}

class World {
  readonly pool: Pool;
  readonly sql: Sql;
  readonly random: Random;
  readonly partnerId: string;
  readonly webhookId: string;
  readonly loans: readonly { readonly stream: string; version: number }[];
  nowMs = Date.now() + HOUR_MS;
  held: Held[] = [];
  claims = 0;
  isInOrder = true;
  isActive = true;
  /** Until then what is suspended holds back its loan. */
  resumesUntilMs = 0;

  constructor(pool: Pool, sql: Sql, seed: number, partnerId: string, webhookId: string) {
    this.pool = pool;
    this.sql = sql;
    this.random = createRandom(seed);
    this.partnerId = partnerId;
    this.webhookId = webhookId;
    this.loans = Array.from({ length: LOANS }, () => ({ stream: crypto.randomUUID(), version: 0 }));
  }

  get now(): Date {
    return new Date(this.nowMs);
  }

  async append(loan = this.random.pick(this.loans), events = 1): Promise<void> {
    await this.pool.transaction(async (tx) => {
      for (let event = 0; event < events; event += 1) await appendTo(tx, this.partnerId, loan);
    });
  }

  async rows(): Promise<Row[]> {
    return this.sql<Row[]>`
      select d.id, e.stream, e.version, d.status, d.id in (select delivery_id from flights()) as "isClaimed"
      from deliveries d join events e on e.id = d.event_id
      where d.webhook_id = ${this.webhookId} order by e.stream, e.version`;
  }

  /** Takes a turn as a poller, and holds what it took to the rule. */
  async claim(): Promise<void> {
    const claim = `p/${(this.claims += 1)}`;
    const taken = await pollLanes(this.pool, claim, 1 + this.random.below(6), this.now);
    const rows = await this.rows();
    for (const delivery of taken) {
      this.held.push({ delivery, claim });
      if (this.isInOrder) this.#hold(delivery.id, rows);
    }
  }

  #hold(id: string, rows: readonly Row[]): void {
    const mine = rows.find((row) => row.id === id) as Row;
    const others = rows.filter((row) => row.stream === mine.stream && row.id !== id);
    const beside = others.filter((row) => row.isClaimed);
    if (beside.length > 0) throw new Error(`two of a loan in flight: ${mine.version} beside ${beside[0]?.version}`);
    const counted = this.nowMs < this.resumesUntilMs ? ['pendente', 'suspensa'] : ['pendente'];
    const before = others.filter((row) => counted.includes(row.status) && row.version < mine.version);
    if (before.length > 0) throw new Error(`taken before its turn: ${mine.version} before ${before[0]?.version}`);
  }

  async report(held: Held, isDelivered: boolean): Promise<void> {
    this.held = this.held.filter((other) => other !== held);
    await record(this.pool, [reportOf(held, isDelivered)], () => 10, this.now);
  }

  async takeBack(held: Held): Promise<void> {
    this.held = this.held.filter((other) => other !== held);
    const [poller = '', number] = held.claim.split('/');
    await this.pool.transaction((tx) => withdraw(tx, poller, Number(number), [held.delivery.id]));
  }

  async setInOrder(inOrder: boolean): Promise<void> {
    await this.pool.transaction((tx) => setInOrder(tx, this.webhookId, inOrder));
    this.isInOrder = inOrder;
  }

  async setActive(active: boolean): Promise<void> {
    const resumes = active && this.random.chance(0.7);
    await this.pool.transaction(async (tx) => {
      await tx`update webhooks set active = ${active} where id = ${this.webhookId}`;
      if (!active) await leaveToSuspend(tx, this.webhookId);
      if (resumes) await leaveToResume(tx, this.webhookId, this.now);
    });
    this.isActive = active;
    if (!active) this.resumesUntilMs = 0;
    if (!resumes) return;
    this.resumesUntilMs = this.nowMs + RESUMPTION_S * 1_000;
    // Else its batches come later, or the request has died.
    if (this.random.chance(0.5)) await this.resume();
  }

  async resume(): Promise<void> {
    await resumeWhile(this.pool, this.webhookId, AUTHOR, Infinity);
    this.resumesUntilMs = 0;
  }

  async step(): Promise<void> {
    const { random, held } = this;
    const roll = random.next();
    if (roll < 0.2) return this.append(undefined, random.chance(0.2) ? 3 : 1);
    if (roll < 0.5) return this.claim();
    if (roll < 0.8) return held.length === 0 ? this.claim() : this.report(random.pick(held), random.chance(0.6));
    if (roll < 0.84) return held.length === 0 ? undefined : this.takeBack(random.pick(held));
    if (roll < 0.87) return void (this.nowMs += random.below(2 * LEASE_S) * 1_000);
    if (roll < 0.89) return void (this.nowMs += random.below(7) * HOUR_MS);
    if (roll < 0.93) return this.#order(await this.rows());
    if (roll < 0.96) return this.setInOrder(!this.isInOrder || random.chance(0.3));
    if (this.nowMs < this.resumesUntilMs && random.chance(0.3)) return this.resume();
    return random.chance(0.3) || !this.isActive ? this.setActive(!this.isActive) : undefined;
  }

  async #order(rows: readonly Row[]): Promise<void> {
    if (rows.length === 0 || !this.isActive) return;
    const { id } = this.random.pick(rows);
    if (this.random.chance(0.7)) await this.pool.transaction((tx) => resendOne(tx, this.partnerId, id, AUTHOR));
    else await this.pool.transaction((tx) => cancelDelivery(tx, id, AUTHOR));
  }

  /** Delivers all that is left; nothing may be left that no turn comes to. */
  async finish(): Promise<void> {
    if (!this.isActive) await this.setActive(true);
    let idle = 0;
    while (idle < 12) {
      const before = this.claims;
      await this.claim();
      const { length } = this.held;
      for (const held of this.held) await this.report(held, true);
      idle = length > 0 ? 0 : idle + 1;
      this.nowMs += idle === 0 ? 1_000 : HOUR_MS;
      if (this.claims > before + STEPS) throw new Error('turns without end');
    }
    const left = (await this.rows()).filter(({ status }) => status === 'pendente');
    if (left.length > 0) throw new Error(`${left.length} deliveries wait for ever`);
  }
}

async function appendTo(sql: Tx, partnerId: string, loan: { readonly stream: string; version: number }) {
  await sql`
    select append_event(${loan.stream}, ${loan.version}, 'desembolso.falhou', ${partnerId},
             json_build_object('emprestimo_id', ${loan.stream}::uuid, 'numero_emprestimo', '2026-00000001',
                               'motivo', 'conta encerrada'), 'test')`;
  loan.version += 1;
}

function reportOf({ delivery, claim }: Held, isDelivered: boolean) {
  const result = { ...DELIVERED, ...(!isDelivered && { outcome: 'resposta_nao_2xx' as const, statusCode: 500 }) };
  return reportFor(delivery, claim, result);
}

async function makeWorld(pool: Pool, sql: Sql, seed: number): Promise<World> {
  const { partnerId, id } = await insertSubscriber(sql);
  await pool.transaction((tx) => setInOrder(tx, id, true));
  return new World(pool, sql, seed, partnerId, id);
}

/** A walk of everything that can happen, after which all that is pending must still arrive. */
export async function keepLoanOrder(pool: Pool, sql: Sql, seed: number): Promise<void> {
  const world = await makeWorld(pool, sql, seed);
  for (let step = 0; step < STEPS; step += 1) await world.step();
  await world.finish();
}

/** One that is sent again waits for a later one in flight, and no longer than until that one's claim ends. */
export async function wakeEarlier(pool: Pool, sql: Sql, seed: number): Promise<void> {
  const world = await makeWorld(pool, sql, seed);
  const [loan] = world.loans;
  await world.append(loan, 2);
  await world.claim();
  await world.report(world.held[0] as Held, true);
  await world.claim();
  const [second] = world.held as [Held];
  const [{ id }] = (await world.rows()) as [Row];
  await pool.transaction((tx) => resendOne(tx, world.partnerId, id, AUTHOR));
  await world.claim();
  await world.report(second, false);
  await world.claim();
  if (world.held[0]?.delivery.id !== id) throw new Error('it waits for ever, or until the other is tried again');
}

/** Resumptions die: what nobody resumes holds nothing back after a deactivation, or after five minutes. */
export async function resumeNoMore(pool: Pool, sql: Sql, seed: number): Promise<void> {
  const world = await makeWorld(pool, sql, seed);
  const [loan] = world.loans;
  await world.append(loan);
  const setActive = (active: boolean, leave: (tx: Tx) => Promise<void>) =>
    pool.transaction(async (tx) => {
      await tx`update webhooks set active = ${active} where id = ${world.webhookId}`;
      await leave(tx);
    });
  await setActive(false, (tx) => leaveToSuspend(tx, world.webhookId));
  await world.claim();
  await setActive(true, (tx) => leaveToResume(tx, world.webhookId, world.now));
  await setActive(false, (tx) => leaveToSuspend(tx, world.webhookId));
  await setActive(true, async () => undefined);
  await world.append(loan);
  await world.claim();
  if (world.held.length === 0) throw new Error('put off behind what nobody resumes');
  for (const held of world.held) await world.report(held, true);
  await pool.transaction((tx) => leaveToResume(tx, world.webhookId, world.now));
  await world.append(loan);
  await world.claim();
  if (world.held.length > 0) throw new Error('taken before its turn: it passed what is still suspended');
  world.nowMs += RESUMPTION_S * 1_000;
  await world.claim();
  if (world.held.length === 0) throw new Error('it waits for ever, or longer than the resumption');
  await world.finish();
}

/** A backlog of two batches is resumed: what is appended after the activation comes after what is still suspended. */
export async function resumeInBatches(pool: Pool, sql: Sql, seed: number): Promise<void> {
  const world = await makeWorld(pool, sql, seed);
  const [loan] = world.loans;
  await commitEvents(sql, world.partnerId, RESUMED_AT_ONCE);
  await world.append(loan);
  await sql`update webhooks set active = false where id = ${world.webhookId}`;
  while ((await pool.transaction((tx) => suspendUnclaimed(tx, [world.webhookId], world.now))) === SUSPENDED_AT_ONCE);
  await pool.transaction(async (tx) => {
    await tx`update webhooks set active = true where id = ${world.webhookId}`;
    await leaveToResume(tx, world.webhookId, world.now);
  });
  world.resumesUntilMs = world.nowMs + RESUMPTION_S * 1_000;
  await world.append(loan);
  await world.claim();
  await resumeWhile(pool, world.webhookId, AUTHOR, -Infinity);
  // As if all of the first batch were delivered, so that the next claim comes to the loan.
  await sql`
    update deliveries d set status = 'entregue', next_attempt_at = null, finished_at = now()
    from events e
    where e.id = d.event_id and d.webhook_id = ${world.webhookId} and d.status = 'pendente' and e.stream <> ${loan?.stream ?? ''}`;
  world.nowMs += 1_000;
  await world.claim();
  const flying = await sql`
    select from deliveries d join events e on e.id = d.event_id
    where d.webhook_id = ${world.webhookId} and e.stream = ${loan?.stream ?? ''} and d.id in (select delivery_id from flights())`;
  if (flying.length > 0) throw new Error('taken before its turn: it passed what is still suspended');
  await world.resume();
  await world.claim();
  for (const held of world.held) await world.report(held, true);
  await world.claim();
  if (world.held.length === 0) throw new Error('put off for longer than what it waited for');
  await world.finish();
}

const EVENTS = 300;

interface FlightOfLoan {
  readonly id: string;
  readonly loan: string;
}

/** A poller of a process that may be killed or frozen at each of its calls to the database, and while it sends. */
class Member {
  readonly poller: Poller;
  readonly name: string;
  /** What it has in flight, while others count that as its own. */
  readonly flying = new Set<FlightOfLoan>();
  #gate: Promise<void> = Promise.resolve();
  #thaw: () => void = () => undefined;
  #standstillMs = 0;

  constructor(
    pool: Pool,
    name: string,
    now: () => Date,
    answer: (member: Member, flight: FlightOfLoan, version: number) => Promise<SendResult>,
  ) {
    this.name = name;
    const gated = async <T>(work: () => Promise<T>): Promise<T> => {
      await this.#gate;
      const result = await work();
      await this.#gate;
      return result;
    };
    this.poller = new Poller({
      pool: {
        run: (work: Parameters<Pool['run']>[0]) => gated(() => pool.run(work)),
        transaction: (work: Parameters<Pool['transaction']>[0]) => gated(() => pool.transaction(work)),
      } as Pool,
      sender: {
        send: async ({ body, headers }) => {
          const loan = (JSON.parse(body.toString()) as { data: { emprestimo_id: string } }).data.emprestimo_id;
          const header = (name: string) => headers[headers.indexOf(name) + 1] ?? '';
          const flight = { id: header('X-Webhook-Delivery'), loan };
          const result = await answer(this, flight, Number(header('X-Webhook-Loan-Version')));
          await this.#gate;
          this.flying.delete(flight);
          return result;
        },
      },
      openSecret: openTestSecret,
      log: silentLog,
      name,
      capacity: 8,
      monotonicMs: () => performance.now() + this.#standstillMs,
      now,
    });
  }

  /** Nothing of it goes on: until {@link wake}, or for ever. */
  freeze(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    this.#thaw = resolve;
  }

  /** It has stood still for longer than its leases. */
  wake(): void {
    this.#standstillMs += 2 * LEASE_S * 1_000;
    this.#thaw();
  }
}

/** Pollers that die and freeze, and slow answers: of each loan the receiver gets one at a time, by version. */
class Crowd {
  readonly #world: World;
  readonly #members: Member[] = [];
  readonly #frozen: Member[] = [];
  /** By loan: the version that came last. */
  readonly #got = new Map<string, number>();
  readonly #failing: number;
  #born = 0;
  #aheadMs = 1_000;
  fault: string | null = null;

  constructor(world: World, size: number, failing: number) {
    this.#world = world;
    this.#failing = failing;
    while (this.#members.length < size) this.#bear();
  }

  #bear(): void {
    const now = () => new Date(Date.now() + this.#aheadMs);
    const member = new Member(this.#world.pool, `order-${(this.#born += 1)}`, now, (...post) => this.#answer(...post));
    this.#members.push(member);
    void member.poller.run();
  }

  async #answer(member: Member, flight: FlightOfLoan, version: number): Promise<SendResult> {
    const { loan } = flight;
    const others = [...this.#members, ...this.#frozen].flatMap(({ flying }) =>
      [...flying].filter((other) => other.loan === loan).map(({ id }) => id),
    );
    if (others.length > 0 && (await this.#areInFlight(others))) this.fault ??= `two of a loan in flight: ${version}`;
    const last = this.#got.get(loan) ?? 0;
    if (version < last) this.fault ??= `taken before its turn: ${last} before ${version}`;
    this.#got.set(loan, version);
    member.flying.add(flight);
    for (let poll = this.#world.random.below(20); poll > 0; poll -= 1) await new Promise(setImmediate);
    return !this.#world.random.chance(this.#failing)
      ? DELIVERED
      : { ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 500 };
  }

  /** The lease of one that stands still for long may have ended meanwhile. */
  async #areInFlight(ids: readonly string[]): Promise<boolean> {
    const flights = await this.#world.sql`select from flights() where delivery_id = any (${ids as string[]}::uuid[])`;
    return flights.length > 0;
  }

  /** Kills or freezes one, has one wake, or cancels what waits to be tried again. */
  async disturb(): Promise<void> {
    const { random, pool } = this.#world;
    const roll = random.next();
    if (roll < 0.4) {
      const [member] = this.#members.splice(random.below(this.#members.length), 1) as [Member];
      member.freeze();
      this.#bear();
      const isKilled = roll < 0.2;
      await pool.transaction((tx) => endPoller(tx, member.name, isKilled));
      if (isKilled) member.flying.clear();
      else this.#frozen.push(member);
    } else if (roll < 0.7) await this.#wake();
    else await this.#cancelRetry();
  }

  async #cancelRetry(): Promise<void> {
    const { pool, sql } = this.#world;
    const [retry] = await sql<{ id: string }[]>`
      select id from deliveries where status = 'pendente' and failures > 0 and id not in (select delivery_id from flights()) limit 1`;
    if (retry !== undefined) await pool.transaction((tx) => cancelDelivery(tx, retry.id, AUTHOR));
  }

  /** The leases of a frozen one end, and it goes on. */
  async #wake(): Promise<void> {
    const member = this.#frozen.shift();
    if (member === undefined) return;
    const { pool } = this.#world;
    await pool.transaction(async (tx) => {
      await tx`update claims set at = at - interval '1 hour' where poller = ${member.name}`;
      await rescueOverdue(tx);
    });
    member.flying.clear();
    member.wake();
    this.#members.push(member);
  }

  /** Until nothing is pending, by a clock that goes on when nothing else does. */
  async finish(): Promise<void> {
    while (this.#frozen.length > 0) await this.#wake();
    const { sql } = this.#world;
    let [before, idle] = [Infinity, 0];
    while (this.fault === null) {
      const [row] = await sql<[{ left: number; spent: number }]>`
        select count(*) filter (where status = 'pendente')::int as left, sum(attempts)::int as spent from deliveries`;
      if (row.left === 0) break;
      idle = row.spent === before ? idle + 1 : 0;
      before = row.spent;
      if (idle % 6 === 5) {
        await this.#cancelRetry();
        this.#aheadMs += HOUR_MS;
      }
      if (idle > 400) this.fault = `${row.left} deliveries wait for ever`;
      await sleep(50);
    }
    await Promise.all(this.#members.map(({ poller }) => poller.drain()));
    if (this.fault !== null) throw new Error(this.fault);
  }
}

/** Four pollers, of which some die and some freeze. */
export async function pollInLoanOrder(pool: Pool, sql: Sql, seed: number): Promise<void> {
  const world = await makeWorld(pool, sql, seed);
  const crowd = new Crowd(world, 4, 0.1);
  for (let event = 0; event < EVENTS && crowd.fault === null; event += 1) {
    await world.append();
    if (event % 10 === 9) await crowd.disturb();
  }
  await crowd.finish();
}

/** More loans at once than a turn judges of a lane, and nothing has it read from its start. */
export async function readManyLoans(pool: Pool, sql: Sql, seed: number): Promise<void> {
  const world = await makeWorld(pool, sql, seed);
  const crowd = new Crowd(world, 1, 0);
  await commitEvents(sql, world.partnerId, 200);
  await crowd.finish();
}
