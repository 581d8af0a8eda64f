/**
 * Keep-alive connections to receivers: one undici `Client` each, one request at a time, HTTP/1.1.
 * Invariant: no connection stays idle while an attempt at the same origin waits to be accepted. A receiver with one worker a connection
 * (Apache's prefork, PHP, Starman) accepts no other while we keep its workers. Our other processes cannot see our waiting attempts, so no
 * connection is kept longer than LIFE_MS.
 * Alternative: undici's `Agent` hides which connection carries a request. The sender needs its address and whether it had served before,
 * and must destroy one that is still connecting: a black-holed connect would outlive its attempt.
 */
import type { GuardedConnector } from '../target/guard.ts';
import { type Connection, endAnswer, IDLE_MS, isAccepted, openConnection, type Place } from './connection.ts';

/** Idle connections over all receivers; further ones are closed after use. */
const MAX_IDLE_CONNECTIONS = 2_048;
/** An older connection is closed after its answer. */
const LIFE_MS = 10_000;
/**
 * A new connection without a byte after this many checks, 50 ms apart, waits behind those being served. Counted in checks: in a process
 * without CPU, elapsed time says nothing of the receiver.
 */
const UNACCEPTED_CHECKS = 10;
/**
 * A receiver may flush its answer and work on; many stop when the connection ends. So it stays open this long for the rest of the answer,
 * within a limit in all and per place.
 */
const DRAIN_MS = 15_000;
const MAX_DRAINING = 512;
const MAX_DRAINING_OF_PLACE = 64;

export class Connections {
  readonly #connect: GuardedConnector;
  readonly #now: () => number;
  readonly #open = new Set<Connection>();
  readonly #draining = new Set<Connection>();
  readonly #idle = new Map<string, Connection[]>();
  #idleCount = 0;
  /** By place: a connection that waits to be accepted. */
  readonly #unaccepted = new Map<string, Connection>();

  readonly #idleMs: number;
  readonly #lifeMs: number;

  /** `keepsMs` replaces the usual idle times. */
  constructor(connect: GuardedConnector, now: () => number, keepsMs?: number) {
    this.#connect = connect;
    this.#now = now;
    this.#idleMs = keepsMs ?? IDLE_MS;
    this.#lifeMs = keepsMs === undefined ? LIFE_MS : Infinity;
  }

  /** An idle connection to `place`, or a new one; always new with `isFresh`. */
  take(place: Place, isFresh: boolean): Connection {
    return (isFresh ? null : this.#takeIdle(place)) ?? this.#openNew(place);
  }

  /** After a complete answer: makes the connection available. */
  release(connection: Connection): void {
    if (connection.state !== 'busy' && connection.state !== 'draining') return;
    this.#draining.delete(connection);
    endAnswer(connection);
    const { key } = connection.place;
    const isOld = this.#now() - connection.openedAtMs >= this.#lifeMs;
    if (isOld || this.#idleCount >= MAX_IDLE_CONNECTIONS || this.#isCrowded(key)) return this.discard(connection);
    const stack = this.#idle.get(key);
    if (stack === undefined) this.#idle.set(key, [connection]);
    else stack.push(connection);
    this.#idleCount += 1;
    connection.state = 'idle';
  }

  /** The attempt is over but not its answer: reads the rest for a while. */
  drain(connection: Connection): void {
    if (connection.state !== 'busy') return;
    const [oldest] = this.#draining;
    const ofPlace = [...this.#draining].filter(({ place }) => place.key === connection.place.key);
    if (ofPlace.length >= MAX_DRAINING_OF_PLACE) this.discard(ofPlace[0] as Connection);
    else if (oldest !== undefined && this.#draining.size >= MAX_DRAINING) this.discard(oldest);
    connection.state = 'draining';
    connection.drainsUntilMs = this.#now() + DRAIN_MS;
    this.#draining.add(connection);
  }

  /** Ends connections that have drained too long; true while any drains. */
  endDrained(atMs: number): boolean {
    for (const connection of this.#draining) {
      if (connection.drainsUntilMs > atMs) break;
      this.discard(connection);
    }
    return this.#draining.size > 0;
  }

  /** Closes idle connections of a place where a busy one has waited too long to be accepted. */
  makeRoomFor(connection: Connection): void {
    if (isAccepted(connection) || (connection.looks += 1) < UNACCEPTED_CHECKS) return;
    const { key } = connection.place;
    this.#unaccepted.set(key, connection);
    for (const idle of this.#idle.get(key)?.slice() ?? []) this.discard(idle);
  }

  /** Destroys the connection, even while connecting; nothing is written to it afterwards. */
  discard(connection: Connection): void {
    if (connection.state === 'discarded') return;
    if (connection.state === 'idle') this.#leaveIdle(connection);
    connection.state = 'discarded';
    this.#open.delete(connection);
    this.#draining.delete(connection);
    if (this.#unaccepted.get(connection.place.key) === connection) this.#unaccepted.delete(connection.place.key);
    connection.giveUpConnecting();
    // Deferred, because undici may be inside one of its callbacks.
    queueMicrotask(() => connection.client.destroy(null, () => undefined));
  }

  async close(): Promise<void> {
    const clients = [...this.#open].map(({ client }) => client);
    for (const connection of this.#open) this.discard(connection);
    await Promise.all(clients.map((client) => client.destroy()));
  }

  #openNew(place: Place): Connection {
    const connection = openConnection(place, this.#connect, (one) => this.discard(one), this.#now, this.#idleMs);
    connection.client.on('disconnect', () => {
      if (connection.state !== 'busy') this.discard(connection);
    });
    this.#open.add(connection);
    return connection;
  }

  /** The most recently used, so that the others can time out. */
  #takeIdle({ key }: Place): Connection | null {
    for (let found = this.#idle.get(key)?.at(-1); found !== undefined; found = this.#idle.get(key)?.at(-1)) {
      if (found.socket?.destroyed === false) {
        this.#leaveIdle(found);
        found.state = 'busy';
        return found;
      }
      this.discard(found);
    }
    return null;
  }

  #leaveIdle(connection: Connection): void {
    const { key } = connection.place;
    const stack = this.#idle.get(key) ?? [];
    stack.splice(stack.lastIndexOf(connection), 1);
    if (stack.length === 0) this.#idle.delete(key);
    this.#idleCount -= 1;
  }

  #isCrowded(key: string): boolean {
    const waiting = this.#unaccepted.get(key);
    if (waiting === undefined || !isAccepted(waiting)) return waiting !== undefined;
    this.#unaccepted.delete(key);
    return false;
  }
}
