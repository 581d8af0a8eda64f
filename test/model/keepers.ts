/**
 * Pollers that keep lanes, against a server of a few lines: their memory is the engine's own (src/delivery/queue/lanes/kept-lanes.ts), each
 * statement of theirs is one step of the server, and anything may happen between two. Appends commit late, answers of polls and
 * records are lost, pollers die, freeze and wake, lanes are taken over, handed back, and changed. Some lanes get each loan in order, while
 * deliveries are cancelled, sent again, suspended and resumed.
 */
import type { LaneSettings } from '../../src/delivery/queue/lanes/kept-lane.ts';
import { KeptLanes } from '../../src/delivery/queue/lanes/kept-lanes.ts';
import { type Ask, type Found, MOST_EACH } from '../../src/delivery/queue/lanes/poll-plan.ts';
import { Slots } from '../../src/delivery/queue/slots.ts';
import { createRandom, type Random } from '../support/random.ts';

interface Row {
  tx: number | null;
  dueMs: number;
  number: number;
  readonly hook: string;
  readonly id: string;
  readonly loan: string | null;
  readonly version: number;
}

interface Delivery {
  readonly id: string;
  readonly hook: string;
  readonly loan: string | null;
  readonly version: number;
  attempts: number;
  failures: number;
  status: 'pendente' | 'entregue' | 'erro' | 'suspensa';
  /** By number: how it ended. */
  readonly rows: Map<number, 'entregue' | 'falha' | 'desconhecido'>;
}

interface Lane {
  keeper: string | null;
  changed: boolean;
  isMuted: boolean;
  inOrder: boolean;
  resumesUntilMs: number;
}

interface Claim {
  readonly poller: string;
  readonly number: number;
  readonly doneBelow: number;
  readonly atMs: number;
  flights: readonly { readonly id: string; readonly number: number }[];
}

type DueRow = Extract<Found, { kind: 'due' }>;

export interface Faults {
  /** A claim does not ask who keeps the lane. */
  readonly anybodyClaims?: boolean;
  /** Nor whether it has changed. */
  readonly ignoresChanges?: boolean;
  /** Whoever takes a lane does not learn what its earlier keeper has in flight. */
  readonly forgetsFlights?: boolean;
  /** Nor what of it is due at once. */
  readonly forgetsDue?: boolean;
  /** The snapshot that a poll tells names no transaction that still runs. */
  readonly forgetsRunning?: boolean;
  /** A poller says of every claim that all below are recorded. */
  readonly closesEarly?: boolean;
  /** A frozen poller's claims are ended with its lanes. */
  readonly endsFrozen?: boolean;
  /** A poller that was taken for gone goes on with what it knew. */
  readonly remembersLanes?: boolean;
  /** A poller claims before it has read the lanes that it took. */
  readonly followsFromNow?: boolean;
  /** A lane in order takes what waits for an earlier delivery of its loan. */
  readonly passesEarlier?: boolean;
  /** … or what comes before one in flight. */
  readonly passesFlying?: boolean;
  /** Whoever ends a delivery in the place of its poller leaves the lane as it is. */
  readonly endsInSilence?: boolean;
}

const HOOKS = ['a', 'b', 'c'].map((name) => `00000000-0000-0000-0000-00000000000${name}`);
const LEASE_MS = 45_000;
const SEND_MS = 14_000;
const CAP = 6;
const SLOTS = 12;
const JUDGED = 5;
const RESUMPTION_MS = 20_000;
const idOf = (n: number) => `11111111-1111-1111-1111-${n.toString(16).padStart(12, '0')}`;
const isoOf = (ms: number) => new Date(ms).toISOString().replace('Z', '000Z');

/** The database. */
class Server {
  nowMs = Date.UTC(2026, 0, 1);
  nextTx = 10;
  readonly open = new Map<number, Row[]>();
  pending: Row[] = [];
  claims: Claim[] = [];
  /** The pollers that are known. */
  readonly keepers = new Set<string>();
  readonly lanes = new Map(HOOKS.map((hook): [string, Lane] => [hook, newLane()]));
  readonly deliveries = new Map<string, Delivery>();
  readonly faults: Faults;
  broken: string | null = null;

  constructor(faults: Faults) {
    this.faults = faults;
  }

  get snapshot(): string {
    const running = this.faults.forgetsRunning ? [] : [...this.open.keys()];
    return `${Math.min(this.nextTx, ...running)}:${this.nextTx}:${running.join(',')}`;
  }

  /** What claims name that is not over. */
  flights(): { poller: string; id: string; number: number; atMs: number }[] {
    const done = new Map<string, number>();
    for (const { poller, doneBelow } of this.claims) done.set(poller, Math.max(doneBelow, done.get(poller) ?? 0));
    return this.claims
      .filter(({ poller, number }) => number >= (done.get(poller) ?? 0))
      .flatMap(({ poller, atMs, flights }) => flights.map((flight) => ({ poller, atMs, ...flight })))
      .filter(({ id, number }) => {
        const delivery = this.deliveries.get(id);
        return delivery?.status === 'pendente' && delivery.attempts === number - 1;
      });
  }

  poll(poller: string, number: number, doneBelow: number, seen: string, ask: Ask, between: () => void) {
    const [, xmax = '0', xip = ''] = seen.split(':');
    const after = Number(xmax);
    const running = new Set(xip.split(',').map(Number));
    const isNew = ({ tx }: Row) => tx !== null && (tx >= after || running.has(tx));
    const isMine = (hook: string) => {
      const lane = this.lanes.get(hook) as Lane;
      return (this.faults.anybodyClaims || lane.keeper === poller) && (this.faults.ignoresChanges || !lane.changed);
    };
    const found: Found[] = [];
    const flights: { id: string; number: number }[] = [];
    const claim = (row: Row) => {
      this.#hold(row, flights);
      flights.push({ id: row.id, number: row.number + 1 });
      const dueAt = row.dueMs === -Infinity ? null : isoOf(row.dueMs);
      found.push({ kind: 'due', webhookId: row.hook, id: row.id, number: row.number + 1, dueAt, loan: row.loan });
    };
    const followed = this.snapshot;
    const fresh = this.pending.filter(isNew).toSorted(byPlace);
    let left = ask.most;
    for (const [hook, rows] of Map.groupBy(fresh, (row) => row.hook)) {
      const tight = ask.tight.indexOf(hook);
      const most =
        ask.closed.includes(hook) || !isMine(hook) || this.lanes.get(hook)?.inOrder
          ? 0
          : Math.min(tight < 0 ? MOST_EACH : (ask.tightRooms[tight] ?? 0), left);
      const due = rows.filter(({ dueMs, id }) => dueMs === -Infinity && !ask.flying.includes(id)).slice(0, most);
      left -= due.length;
      due.forEach(claim);
      for (const group of [true, false]) {
        const first = rows.find((row) => !due.includes(row) && (row.dueMs === -Infinity) === group);
        if (first)
          found.push({ kind: 'left', webhookId: hook, id: first.id, dueAt: group ? null : isoOf(first.dueMs) });
      }
    }
    // The second statement of the poll has a snapshot of its own.
    between();
    for (const [index, hook] of ask.hooks.entries()) {
      if (!isMine(hook)) {
        found.push({ kind: 'shut', webhookId: hook });
        continue;
      }
      const from = { dueMs: msOf(ask.fromDues[index] ?? ''), id: ask.fromIds[index] ?? '' };
      const toMs = Math.min(msOf(ask.toDues[index] ?? ''), this.nowMs);
      const behind = this.pending.filter((row) => row.hook === hook && byPlace(row, from) > 0).toSorted(byPlace);
      const due = behind
        .filter(({ dueMs, id }) => dueMs <= toMs && !ask.flying.includes(id))
        .slice(0, ask.rooms[index]);
      due.forEach(claim);
      const last = due.at(-1);
      const next = behind.find((row) => !ask.flying.includes(row.id) && (last === undefined || byPlace(row, last) > 0));
      if (toMs > -Infinity) found.push({ kind: 'next', webhookId: hook, dueAt: next ? isoOf(next.dueMs) : null });
    }
    if (ask.loans !== null) this.#takeLoans(ask.loans, isMine, claim, found);
    if (flights.length > 0) this.claims.push({ poller, number, doneBelow, atMs: this.nowMs, flights });
    return { found, seen: followed };
  }

  #takeLoans(
    { asks, busy, flying }: NonNullable<Ask['loans']>,
    isMine: (hook: string) => boolean,
    claim: (row: Row) => void,
    found: Found[],
  ): void {
    const chosen = new Set<Row>();
    for (const { place, hook, loan, from_due: due, from_id: id, to_due: to, room, is_resuming: isResuming } of asks) {
      if (!isMine(hook)) {
        found.push({ kind: 'shut', webhookId: hook });
        continue;
      }
      const toMs = Math.min(msOf(to), this.nowMs);
      const rows = this.pending.filter((row) => row.hook === hook);
      const isFree = (row: Row) =>
        row.loan === null ||
        ((this.faults.passesEarlier || this.ahead(row, isResuming) === null) &&
          (this.faults.passesFlying || !busy.some((other) => other.hook === hook && other.loan === row.loan)));
      if (loan !== null) {
        const [next] = rows.filter((row) => row.loan === loan).toSorted((one, other) => one.version - other.version);
        if (next !== undefined && next.dueMs <= this.nowMs && isFree(next)) chosen.add(next);
        continue;
      }
      const from = { dueMs: msOf(due), id };
      const behind = rows.filter((row) => byPlace(row, from) > 0).toSorted(byPlace);
      const looked = behind.filter((row) => row.dueMs <= toMs && !flying.includes(row.id)).slice(0, JUDGED);
      const free = looked.filter(isFree);
      for (const row of free.slice(0, room)) chosen.add(row);
      const beyond = free[room];
      const read = beyond === undefined ? looked : looked.slice(0, looked.indexOf(beyond));
      const last = read.at(-1);
      found.push({
        kind: 'read',
        webhookId: hook,
        ask: place,
        id: last?.id ?? null,
        dueAt: last === undefined || last.dueMs === -Infinity ? null : isoOf(last.dueMs),
        hasMore: beyond !== undefined || looked.length === JUDGED,
        isHolding: read.some((row) => !isFree(row)),
      });
      const next = behind.find((row) => !flying.includes(row.id) && (last === undefined || byPlace(row, last) > 0));
      if (toMs > -Infinity) found.push({ kind: 'next', webhookId: hook, dueAt: next ? isoOf(next.dueMs) : null });
    }
    chosen.forEach(claim);
  }

  /** What the row has to wait for. */
  ahead({ hook, loan, version }: Row, isResuming: boolean): Delivery | null {
    for (const other of this.deliveries.values()) {
      if (other.hook !== hook || other.loan !== loan || other.version >= version) continue;
      if (other.status === 'pendente' || (isResuming && other.status === 'suspensa')) return other;
    }
    return null;
  }

  /** Of a loan in order one is in flight, and none before its turn. */
  #hold(row: Row, beside: readonly { readonly id: string }[]): void {
    const lane = this.lanes.get(row.hook) as Lane;
    if (!lane.inOrder || row.loan === null) return;
    const ahead = this.ahead(row, this.nowMs < lane.resumesUntilMs);
    if (ahead !== null) this.broken ??= `taken before its turn: ${row.version} before ${ahead.version} of ${row.loan}`;
    const other = [...this.flights(), ...beside]
      .map(({ id }) => this.deliveries.get(id) as Delivery)
      .find(({ id, hook, loan }) => id !== row.id && hook === row.hook && loan === row.loan);
    if (other !== undefined) this.broken ??= `two in flight: ${row.version} beside ${other.version} of ${row.loan}`;
  }

  /** Ends a delivery, or suspends it, in the place of its poller. */
  endApart(delivery: Delivery, status: 'entregue' | 'erro' | 'suspensa'): void {
    this.end(delivery, status);
    const lane = this.lanes.get(delivery.hook) as Lane;
    if (lane.inOrder && lane.keeper !== null && !this.faults.endsInSilence) lane.changed = true;
  }

  /** Makes it due at once, as a new row. */
  startAgain(delivery: Delivery): void {
    const { id, hook, loan, version, attempts: number } = delivery;
    delivery.status = 'pendente';
    this.pending.push({ tx: (this.nextTx += 1) - 1, dueMs: -Infinity, number, hook, id, loan, version });
  }

  /** When it is tried again; null: it is over. Undefined: the attempt was ended before, and nothing is told. */
  record(id: string, number: number, isGood: boolean): number | null | undefined {
    const delivery = this.deliveries.get(id) as Delivery;
    if (delivery.status !== 'pendente' || delivery.attempts !== number - 1) {
      if (isGood && delivery.status !== 'entregue') {
        this.endLost((flight) => flight.id === id);
        this.endApart(delivery, 'entregue');
      }
      return undefined;
    }
    delivery.attempts = number;
    delivery.rows.set(number, isGood ? 'entregue' : 'falha');
    if (isGood) {
      this.end(delivery, 'entregue');
      return null;
    }
    delivery.failures += 1;
    const row = this.pending.find((one) => one.id === id) as Row;
    Object.assign(row, { tx: null, number, dueMs: this.nowMs + 5_000 * delivery.failures });
    return row.dueMs;
  }

  end(delivery: Delivery, status: Delivery['status']): void {
    delivery.status = status;
    this.pending = this.pending.filter(({ id }) => id !== delivery.id);
  }

  endPoller(gone: string, hasClaims: boolean): void {
    this.keepers.delete(gone);
    for (const lane of this.lanes.values())
      if (lane.keeper === gone) Object.assign(lane, { keeper: null, changed: false });
    if (!hasClaims) return;
    this.endLost(({ poller }) => poller === gone);
    this.claims = this.claims.filter(({ poller }) => poller !== gone);
  }

  endLost(isLost: (flight: { poller: string; atMs: number; id: string }) => boolean): void {
    for (const { id, number } of this.flights().filter(isLost)) {
      const delivery = this.deliveries.get(id) as Delivery;
      if (delivery.attempts !== number - 1) continue;
      delivery.attempts = number;
      delivery.rows.set(number, 'desconhecido');
      const row = this.pending.find((one) => one.id === id) as Row;
      Object.assign(row, { tx: (this.nextTx += 1) - 1, number, dueMs: -Infinity });
    }
  }
}

function newLane(): Lane {
  return { keeper: null, changed: false, isMuted: false, inOrder: false, resumesUntilMs: -Infinity };
}

function byPlace(one: Pick<Row, 'dueMs' | 'id'>, other: Pick<Row, 'dueMs' | 'id'>): number {
  if (one.dueMs !== other.dueMs) return one.dueMs < other.dueMs ? -1 : 1;
  return one.id === other.id ? 0 : one.id < other.id ? -1 : 1;
}

function msOf(due: string): number {
  if (due === '-infinity') return -Infinity;
  return due === 'infinity' ? Infinity : new Date(due).getTime();
}

interface Flight {
  readonly row: DueRow;
  readonly claim: number;
  readonly claimedAtMs: number;
  sentAtMs: number | null;
}

type Memory = typeof KeptLanes;

class Poller {
  readonly name: string;
  readonly server: Server;
  readonly lanes: KeptLanes;
  readonly slots = new Slots(SLOTS);
  readonly open = new Map<number, number>();
  flights: Flight[] = [];
  isFrozen = false;
  #numbers = 0;

  constructor(name: string, server: Server, memory: Memory) {
    this.name = name;
    this.server = server;
    this.lanes = new memory();
    this.lanes.seen = server.snapshot;
  }

  /** Takes free lanes, and reads what has changed. */
  keep(most: number): void {
    const { server, name } = this;
    if (!server.keepers.has(name)) {
      if (!server.faults.remembersLanes) this.lanes.keepOnly([]);
      this.lanes.seen = server.snapshot;
      server.keepers.add(name);
    }
    if (server.faults.followsFromNow) this.lanes.seen = server.snapshot;
    let left = most;
    for (const lane of server.lanes.values()) {
      if (lane.keeper !== null || left === 0) continue;
      Object.assign(lane, { keeper: name, changed: true });
      left -= 1;
    }
    for (const [hook, lane] of server.lanes) {
      if (lane.keeper !== name || !lane.changed) continue;
      lane.changed = false;
      const flying = server.faults.forgetsFlights
        ? []
        : server
            .flights()
            .filter(({ id }) => server.deliveries.get(id)?.hook === hook)
            .map(({ id, number }) => ({
              id,
              number,
              loan: lane.inOrder ? (server.deliveries.get(id)?.loan ?? null) : null,
            }));
      const due = server.pending.filter((row) => row.hook === hook).map(({ dueMs }) => dueMs);
      const retries = due.filter((dueMs) => dueMs > -Infinity);
      const retryAt = retries.length > 0 ? new Date(Math.min(...retries)) : null;
      // What is due may be gone by the next poll, or fly: so lanes without anything are read now and then, too.
      const hasDue = !server.faults.forgetsDue && (due.includes(-Infinity) || server.nextTx % 2 === 0);
      this.lanes.keep(settingsOf(hook, lane, { hasDue, retryAt, flying }));
    }
    const { foreign } = this.lanes;
    if (foreign.length > 0) this.lanes.applyForeign(new Set(server.flights().map(({ id }) => id)));
  }

  handBack(most: number): void {
    for (const { settings } of this.lanes.excess(most)) {
      Object.assign(this.server.lanes.get(settings.webhookId) as Lane, { keeper: null, changed: false });
      this.lanes.forget(settings.webhookId);
    }
  }

  /** `isHeard`: the answer arrives. */
  poll(between: () => void, isHeard: boolean): void {
    const ask = this.lanes.plan(this.slots, this.server.nowMs);
    const number = (this.#numbers += 1);
    const [first = number] = this.open.keys();
    const doneBelow = this.server.faults.closesEarly ? number : first;
    const { found, seen } = this.server.poll(this.name, number, doneBelow, this.lanes.seen, ask, between);
    if (!isHeard) {
      this.server.claims = this.server.claims.filter((claim) => claim.poller !== this.name || claim.number !== number);
      return;
    }
    const mine = this.lanes.apply(ask, found, this.server.nowMs);
    this.lanes.seen = seen;
    if (mine.length === 0) return;
    this.open.set(number, mine.length);
    this.slots.take(
      String(number),
      mine.map(() => ({ partnerId: 'p' })),
      this.server.nowMs,
    );
    this.flights.push(...mine.map((row) => ({ row, claim: number, claimedAtMs: this.server.nowMs, sentAtMs: null })));
  }

  complete(flight: Flight, retryAtMs: number | null | undefined): void {
    const { row, claim } = flight;
    this.flights = this.flights.filter((other) => other !== flight);
    if (retryAtMs === undefined) this.lanes.recheck(row.webhookId, row.id, row.number);
    else this.lanes.complete(row.webhookId, row.id, row.number, retryAtMs === null ? null : new Date(retryAtMs));
    this.#close(claim);
  }

  giveBack(flight: Flight): void {
    for (const claim of this.server.claims) {
      if (claim.poller !== this.name || claim.number !== flight.claim) continue;
      claim.flights = claim.flights.filter(({ id }) => id !== flight.row.id);
    }
    this.flights = this.flights.filter((other) => other !== flight);
    this.lanes.recheck(flight.row.webhookId, flight.row.id, flight.row.number);
    this.#close(flight.claim);
  }

  #close(claim: number): void {
    const left = (this.open.get(claim) ?? 1) - 1;
    if (left > 0) this.open.set(claim, left);
    else this.open.delete(claim);
    this.slots.letGo([{ claim: String(claim), partnerId: 'p' }]);
  }
}

function settingsOf(
  webhookId: string,
  { isMuted, inOrder, resumesUntilMs }: Lane,
  found: Pick<LaneSettings, 'hasDue' | 'retryAt' | 'flying'>,
): LaneSettings {
  const secret = Buffer.alloc(0);
  const none = {
    previousEncryptedSecret: null,
    previousUntil: null,
    signsFrom: null,
    encryptedCredentials: null,
    quietUntil: null,
  };
  const resumesUntil = resumesUntilMs === -Infinity ? null : new Date(resumesUntilMs);
  const order = { inOrder, resumesUntil };
  const kept = {
    ...order,
    isActive: true,
    isMuted,
    isSingle: false,
    isInRun: false,
    hasAnswered: true,
    maxInFlight: CAP,
    windowSize: CAP,
    ...found,
  };
  return { webhookId, partnerId: 'p', url: 'https://partner.example/', encryptedSecret: secret, ...none, ...kept };
}

/** A walk through a world of so many pollers. Tells the first rule that broke, or null. */
export function walkOfKeepers(
  seed: number,
  steps: number,
  pollers: number,
  faults: Faults = {},
  memory: Memory = KeptLanes,
): string | null {
  const world = new World(createRandom(seed), pollers, faults, memory);
  for (let step = 0; step < steps; step += 1) {
    const broken = world.step();
    if (broken !== null) return `${broken}, at step ${step} of seed ${seed}`;
  }
  return world.settle();
}

class World {
  readonly #random: Random;
  readonly #server: Server;
  readonly #memory: Memory;
  readonly #pollers: Poller[] = [];
  /** In half of the worlds nobody dies or freezes and no lane is changed: what is read from its start hides what was passed over. */
  readonly #kind: 'calm' | 'ordered about' | 'cancelled' | 'wild';
  #born = 0;
  #made = 0;
  /** By delivery: its last POST. */
  readonly #posts = new Map<string, { readonly number: number; readonly poller: Poller; endedAt: boolean }>();
  readonly #sent: { readonly id: string; readonly number: number }[] = [];

  constructor(random: Random, pollers: number, faults: Faults, memory: Memory) {
    this.#random = random;
    this.#server = new Server(faults);
    this.#memory = memory;
    this.#kind = random.pick(['calm', 'ordered about', 'cancelled', 'wild', 'wild'] as const);
    for (const lane of this.#server.lanes.values()) lane.inOrder = random.chance(0.5);
    while (this.#pollers.length < pollers) this.#bear();
  }

  #bear(): void {
    this.#pollers.push(new Poller(`p${(this.#born += 1)}`, this.#server, this.#memory));
  }

  step(): string | null {
    const kind = this.#random.below(100);
    if (this.#kind !== 'wild' && ((kind >= 26 && kind < 30) || kind === 38)) {
      if (this.#kind !== 'calm' && kind < 29) this.#order();
      return null;
    }
    const server = this.#server;
    const poller = this.#pollers[this.#random.below(this.#pollers.length)] as Poller;
    if (kind < 12) this.#append();
    else if (kind < 24) this.#commit();
    else if (kind < 26) server.nowMs += this.#random.below(4_000);
    else if (kind < 27) this.#order();
    else if (kind < 28) this.#change();
    else if (kind < 29) this.#die(poller);
    else if (kind < 30) this.#freeze(poller);
    else if (poller.isFrozen) return null;
    else if (kind < 38) poller.keep(this.#random.below(3));
    else if (kind < 39) poller.handBack(this.#random.below(4));
    else if (kind < 62) poller.poll(() => this.#meanwhile(poller), this.#random.chance(0.95));
    else if (kind < 80) return this.#send(poller);
    else if (kind < 82) this.#giveBack(poller);
    else this.#record(poller, this.#random.chance(0.8), this.#random.chance(0.95));
    return server.broken ?? this.#crowded();
  }

  /** Between the statements of a poll. */
  #meanwhile(poller: Poller): void {
    if (this.#random.chance(0.3)) this.#commit();
    if (this.#random.chance(0.2)) this.#record(poller, this.#random.chance(0.5), true);
    if (this.#random.chance(0.1)) this.#giveBack(poller);
  }

  /** Somebody cancels a delivery, sends it again (one in flight too), suspends it, or has a webhook's suspended ones resumed. */
  #order(): void {
    const server = this.#server;
    if (this.#kind === 'cancelled') {
      const retry = server.pending.find(
        ({ id, number, loan }) => number > 0 && loan !== null && !server.flights().some((one) => one.id === id),
      );
      if (retry !== undefined) server.endApart(server.deliveries.get(retry.id) as Delivery, 'erro');
      return;
    }
    const all = [...server.deliveries.values()];
    const delivery = all[this.#random.below(all.length)];
    if (delivery === undefined) return;
    const lane = server.lanes.get(delivery.hook) as Lane;
    if (server.flights().some(({ id }) => id === delivery.id)) {
      if (this.#random.chance(0.5)) server.endLost(({ id }) => id === delivery.id);
      return;
    }
    if (delivery.status === 'pendente') {
      if (lane.resumesUntilMs <= server.nowMs)
        server.endApart(delivery, this.#random.chance(0.5) ? 'erro' : 'suspensa');
    } else if (delivery.status !== 'suspensa') server.startAgain(delivery);
    else if (lane.resumesUntilMs <= server.nowMs)
      Object.assign(lane, { changed: lane.keeper !== null, resumesUntilMs: server.nowMs + RESUMPTION_MS });
    else for (const one of all) if (one.hook === delivery.hook && one.status === 'suspensa') server.startAgain(one);
  }

  #append(): void {
    const tx = (this.#server.nextTx += 1) - 1;
    // An event of a loan whose event before is not committed cannot be appended.
    const open = new Set([...this.#server.open.values()].flat().map(({ loan }) => loan));
    const rows = Array.from({ length: 1 + this.#random.below(12) }, () => {
      const [id, hook] = [idOf((this.#made += 1)), HOOKS[this.#random.below(HOOKS.length)] as string];
      const name = `${hook}/${this.#random.below(3)}`;
      const loan = open.has(name) || this.#random.chance(0.2) ? null : name;
      return { tx, dueMs: -Infinity, number: 0, hook, id, loan, version: this.#made };
    });
    this.#server.open.set(tx, rows);
  }

  #commit(): void {
    const open = [...this.#server.open];
    const [tx, rows] = open[this.#random.below(open.length)] ?? [];
    if (tx === undefined || rows === undefined) return;
    this.#server.open.delete(tx);
    this.#server.pending.push(...rows);
    for (const { id, hook, loan, version } of rows) {
      this.#server.deliveries.set(id, {
        id,
        hook,
        loan,
        version,
        attempts: 0,
        failures: 0,
        status: 'pendente',
        rows: new Map(),
      });
    }
  }

  #change(): void {
    const lane = this.#server.lanes.get(HOOKS[this.#random.below(HOOKS.length)] as string) as Lane;
    const change = this.#random.chance(0.5) ? { isMuted: !lane.isMuted } : { inOrder: !lane.inOrder };
    Object.assign(lane, { ...change, changed: lane.keeper !== null });
  }

  #die(poller: Poller): void {
    this.#pollers.splice(this.#pollers.indexOf(poller), 1);
    this.#bear();
    this.#server.endPoller(poller.name, true);
    for (const post of this.#posts.values()) if (post.poller === poller) post.endedAt = true;
  }

  #freeze(poller: Poller): void {
    poller.isFrozen = !poller.isFrozen;
    if (poller.isFrozen) this.#server.endPoller(poller.name, this.#server.faults.endsFrozen === true);
    this.#server.endLost(({ atMs }) => atMs <= this.#server.nowMs - LEASE_MS);
  }

  #send(poller: Poller): string | null {
    const flight = poller.flights.find(({ sentAtMs }) => sentAtMs === null);
    if (flight === undefined) return null;
    if (this.#server.nowMs - flight.claimedAtMs > SEND_MS) {
      poller.giveBack(flight);
      return null;
    }
    flight.sentAtMs = this.#server.nowMs;
    const { id, number, webhookId } = flight.row;
    const before = this.#posts.get(id);
    const delivery = this.#server.deliveries.get(id) as Delivery;
    this.#posts.set(id, { number, poller, endedAt: false });
    this.#sent.push({ id, number });
    if (before?.number === number) return `sent twice: attempt ${number} of ${id}`;
    if (before && !before.endedAt && delivery.rows.get(before.number) !== 'desconhecido')
      return `sent while it flies: ${id}`;
    // A late success may come between its claim and its POST.
    const isLost = [...delivery.rows.values()].includes('desconhecido');
    if (delivery.status === 'entregue' && !isLost) return `sent although it had arrived: ${id} of ${webhookId}`;
    return null;
  }

  #giveBack(poller: Poller): void {
    const flight = poller.flights.find(({ sentAtMs }) => sentAtMs === null);
    if (flight !== undefined) poller.giveBack(flight);
  }

  #record(poller: Poller, isGood: boolean, isHeard: boolean): void {
    const sent = poller.flights.filter(({ sentAtMs }) => sentAtMs !== null);
    const flight = sent[this.#random.below(sent.length)];
    if (flight === undefined) return;
    const { id, number } = flight.row;
    const retryAtMs = this.#server.record(id, number, isGood);
    const post = this.#posts.get(id);
    if (post?.number === number) post.endedAt = true;
    // Without an answer it is repeated as it was, and finds that it is done.
    poller.complete(flight, isHeard ? retryAtMs : undefined);
  }

  /** No webhook has more in flight than its cap. */
  #crowded(): string | null {
    for (const [hook, flights] of Map.groupBy(
      this.#pollers.flatMap((poller) => poller.flights),
      ({ row }) => row.webhookId,
    )) {
      const open = flights.filter(({ row }) => this.#server.deliveries.get(row.id)?.attempts === row.number - 1);
      if (open.length > CAP) return `${open.length} in flight of ${hook}`;
    }
    return null;
  }

  /** No more faults: all of it must arrive, and every POST have its row. */
  settle(): string | null {
    const server = this.#server;
    while (server.open.size > 0) this.#commit();
    // Nothing else is read anew: that would hide what was passed over.
    for (const lane of server.lanes.values())
      if (lane.isMuted) Object.assign(lane, { isMuted: false, changed: lane.keeper !== null });
    for (const poller of this.#pollers) {
      poller.isFrozen = false;
      poller.handBack(0);
    }
    for (let round = 0; round < 400; round += 1) {
      if (server.broken !== null) return server.broken;
      for (const poller of this.#pollers) {
        poller.keep(3);
        poller.poll(() => undefined, true);
        for (
          let broken = this.#send(poller);
          poller.flights.some(({ sentAtMs }) => sentAtMs === null);
          broken = this.#send(poller)
        ) {
          if (broken !== null) return broken;
        }
        while (poller.flights.length > 0) this.#record(poller, true, true);
      }
      server.nowMs += 1_000;
      server.endLost(({ atMs }) => atMs <= server.nowMs - LEASE_MS);
      if (server.pending.length === 0) break;
    }
    const [stuck] = server.pending;
    if (stuck !== undefined) return `never sent: ${stuck.id} of ${stuck.hook}`;
    const bare = this.#sent.find(({ id, number }) => !server.deliveries.get(id)?.rows.has(number));
    return bare === undefined ? null : `no row of attempt ${bare.number} of ${bare.id}`;
  }
}
