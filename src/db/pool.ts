/**
 * A pool of connections with a deadline on every call.
 * Invariants: every call ends within its deadline. The server cancels a slow statement one second earlier (`statement_timeout`), so a call
 * without an answer has most likely lost its connection. A lost connection is never used again: its call fails at once and sends nothing
 * more, but its commit may have happened. The server ends sessions of frozen and cut-off clients, so they leave no locks
 * (`transaction_timeout`, `tcp_user_timeout`).
 * While the server has no free connection (`FullServer`), calls share the pool's open ones; without any they fail at once. Not covered: an
 * endpoint that accepts and closes connections at once holds its calls until their deadline.
 * Alternative: the driver's own pool; after a restart of the server its calls hang until the deadline, or its `begin` crashes the process.
 */
import { DEFAULT_INSTALLATION } from './installation.ts';
import type { ConnectionOptions } from './connect/client.ts';
import { Connection } from './connect/connection.ts';
import type { Sql, Tx } from './sql.ts';
import { readDatabaseUrl } from '../settings/database-url.ts';
import { untrusted } from './connect/tls.ts';
import { transactOrUndo } from './transaction.ts';
import { DatabaseUnavailable, FullServer, isLoss, isUnavailable } from './unavailable.ts';
import { noteRefusedWrite } from './refused-writes.ts';

export type { Sql, Tx };

export interface PoolOptions {
  readonly url: string;
  /** Default: `carteiro`. */
  readonly schema?: string | undefined;
  /** Shown in `pg_stat_activity`. */
  readonly name: string;
  /** The longest time of one call, including the wait for a connection; at least 2,000. */
  readonly deadlineMs: number;
  /** False behind a pooler in transaction mode. */
  readonly prepare?: boolean;
  readonly settings?: Readonly<Record<string, string>> | undefined;
  readonly max: number;
  /** Replace the clock and chance in tests. */
  readonly monotonicMs?: () => number;
  readonly random?: () => number;
}

const GOODBYE_S = 1;

interface Waiter {
  readonly take: (connection: Connection) => void;
  readonly fail: (error: Error) => void;
}

export class Pool {
  /** Where each session looks for tables. */
  readonly schema: string;
  /** Called with each call's wait for a connection. */
  onWait: (seconds: number) => void = () => undefined;
  onOpen: () => void = () => undefined;
  /** Called with a call's error; true when it repaired the cause and the call should be repeated. */
  mend: (error: unknown) => Promise<boolean> = async () => false;
  readonly #options: ConnectionOptions;
  readonly #max: number;
  readonly #connections = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #waiting = new Set<Waiter>();
  readonly #calls = new Set<Promise<unknown>>();
  readonly #full: FullServer;
  #isClosed = false;

  constructor(options: PoolOptions) {
    const { url, schema = DEFAULT_INSTALLATION.schema, name, max, deadlineMs, prepare = true, settings = {} } = options;
    const place = readDatabaseUrl(url);
    if ('fault' in place) throw new Error(`the database's URL: ${place.fault}`);
    this.schema = schema;
    this.#max = max;
    this.#options = { place, schema, name, deadlineMs, prepare, settings };
    const { monotonicMs = () => performance.now(), random = Math.random } = options;
    this.#full = new FullServer(monotonicMs, random);
  }

  async run<T>(work: (sql: Tx) => Promise<T>): Promise<T> {
    return this.#call((connection) => connection.use(work));
  }

  /**
   * Runs `work` in one transaction: commits when it returns, rolls back when it throws or returns a refusal (`{ refused }`,
   * contract/refusals.ts). A failed statement fails the transaction, even when `work` caught its error, unless it then refuses.
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#call((connection) => connection.use((tx) => transactOrUndo(tx, work, () => this.#lose(connection))));
  }

  /** Waits up to `timeoutS` for running calls, then closes for good. */
  async close(timeoutS = 5): Promise<void> {
    this.#isClosed = true;
    for (const { fail } of this.#waiting) fail(new DatabaseUnavailable('the pool is closed'));
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutS * 1_000);
    await Promise.race([late, Promise.allSettled(this.#calls)]);
    clearTimeout(timer);
    await Promise.all([...this.#connections].map((connection) => connection.end(GOODBYE_S)));
  }

  async #call<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new DatabaseUnavailable('the pool is closed');
    const call = this.#within(work);
    this.#calls.add(call);
    try {
      return await call;
    } catch (error) {
      if (!(await this.mend(error))) throw error;
      return await this.#call(work);
    } finally {
      this.#calls.delete(call);
    }
  }

  async #within<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const { deadlineMs } = this.#options;
    const { promise: failed, reject } = Promise.withResolvers<never>();
    const { promise: given, resolve: take } = Promise.withResolvers<Connection>();
    const fail = (error: Error) => {
      this.#waiting.delete(waiter);
      reject(error);
    };
    const waiter = { take, fail };
    let connection: Connection | null = null;
    const timer = setTimeout(() => {
      fail(new DatabaseUnavailable(`no answer from the database in ${deadlineMs} ms`));
      // Where one connection is silent, the idle ones are not worth another call's deadline.
      if (connection !== null) for (const idle of this.#idle.splice(0)) this.#lose(idle);
    }, deadlineMs);
    this.#waiting.add(waiter);
    this.#serve();
    const askedMs = performance.now();
    const isAtOnce = !this.#waiting.has(waiter);
    try {
      connection = await Promise.race([given, failed]);
      this.onWait(isAtOnce ? 0 : (performance.now() - askedMs) / 1_000);
      const done = await Promise.race([work(connection), failed]);
      if (connection.isNew) this.#full.hear(null);
      connection.isNew = false;
      return done;
    } catch (error) {
      this.#full.hear(error);
      if (connection !== null && isLoss(error)) this.#lose(connection);
      noteRefusedWrite(error);
      throw isUnavailable(error) && !(error instanceof DatabaseUnavailable)
        ? new DatabaseUnavailable('the database is out of reach', { cause: error, againInMs: this.#full.restMs() })
        : (untrusted(error) ?? error);
    } finally {
      clearTimeout(timer);
      if (connection !== null) this.#giveBack(connection);
    }
  }

  /** Serves those who wait. Connections are taken last-in first-out, so that idle ones can time out. */
  #serve(): void {
    for (const waiter of this.#waiting) {
      const connection = this.#idle.pop() ?? this.#open();
      if (connection === null) break;
      this.#waiting.delete(waiter);
      connection.fail = waiter.fail;
      waiter.take(connection);
    }
    if (this.#connections.size > 0) return;
    const againInMs = this.#full.restMs();
    for (const { fail } of this.#waiting)
      fail(new DatabaseUnavailable('the database has no connection free', { againInMs }));
  }

  #open(): Connection | null {
    if (this.#connections.size >= this.#max || this.#full.restMs() > 0) return null;
    const connection = new Connection(this.#options, (lost) => this.#lose(lost));
    this.#connections.add(connection);
    this.onOpen();
    return connection;
  }

  #giveBack(connection: Connection): void {
    connection.fail = null;
    if (!connection.isLost) this.#idle.push(connection);
    this.#serve();
  }

  #lose(connection: Connection): void {
    if (connection.isLost) return;
    connection.isLost = true;
    this.#connections.delete(connection);
    const place = this.#idle.indexOf(connection);
    if (place >= 0) this.#idle.splice(place, 1);
    connection.fail?.(connection.lost());
    connection.destroy();
    this.#serve();
  }
}
