/**
 * Connections that are never waited for without end, and never used again once one of them was lost.
 *
 * Invariant: every call answers within its deadline. The server ends a slow statement (`statement_timeout`), so a call
 * that is still open at the client's later deadline has lost its connection without being told: the driver would wait
 * on a black-holed socket for good. A commit whose answer is lost may have happened.
 * At the first lost connection the whole pool is retired and a new one takes its place: calls that still wait for a
 * connection fail at once, those that have one end by themselves, new ones connect afresh. Measured alternatives: the
 * driver's own reconnect left calls hanging to the deadline after each restart of the server (9 s an outage); without
 * the failing at once, one restart in five did (4 s, now 0.2 s), because the driver fails only what it has sent: what
 * waits for a connection, or behind a statement being prepared, is never heard of again.
 * The driver's `begin` rolls back on the socket that is gone, which crashes the process; hence the transaction written
 * out below.
 */
import postgres from 'postgres';

export type Sql = postgres.Sql<Record<never, never>>;
/** A transaction, or a connection outside one: anything that takes a tagged query. */
export type Tx = postgres.ISql<Record<never, never>>;

/** One query that was made but not sent. */
export type Statement<Row extends object> = postgres.PendingQuery<Row[]>;
/** A part of a query. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

interface Sendable {
  execute(): Promise<unknown>;
}

/** The database did not answer: out of reach, shutting down, or silent past the deadline. Worth another try. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
}

export interface PoolOptions {
  readonly url: string;
  /** Shown in `pg_stat_activity`. */
  readonly name: string;
  readonly max: number;
  /** The longest that one call may take, waiting for a free connection included; at least 2,000. */
  readonly deadlineMs: number;
  /** False behind a pooler in transaction mode. */
  readonly prepare?: boolean;
  /** Settings of every session. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** The server gives up this much earlier than the client, so that only a silent network reaches the client's deadline. */
const SERVER_LEAD_MS = 1_000;

/**
 * There is no connection: SQLSTATE class 08, refused (class 28, no such database, one that takes no connections), shutdown,
 * an idle transaction ended; or a code of the driver or socket.
 */
const LOST =
  /^(08...|28...|57P0.|25P03|3D000|53300|55000|CONNECTION_.*|CONNECT_TIMEOUT|ECONN.*|EPIPE|ETIMEDOUT|ENOTFOUND|ENOENT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
/** The connection stands, but the server cannot work now: disk or memory full, read-only during a switch-over. */
const OVERLOADED = /^(53[12]00|25006)$/;

function hasCode(error: unknown, codes: RegExp): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && codes.test(code);
}

/** True for faults that mean "not now" rather than "wrong". */
export function isUnavailable(error: unknown): boolean {
  return error instanceof DatabaseUnavailable || hasCode(error, LOST) || hasCode(error, OVERLOADED);
}

function open(options: PoolOptions, onclose: () => void): Sql {
  const { url, name, max, deadlineMs, prepare = true, settings = {} } = options;
  const serverTimeoutMs = deadlineMs - SERVER_LEAD_MS;
  return postgres(url, {
    max,
    prepare,
    connect_timeout: 3,
    max_lifetime: null,
    backoff: (retries) => Math.min(0.05 * 2 ** retries, 0.5),
    connection: {
      application_name: name,
      statement_timeout: serverTimeoutMs,
      idle_in_transaction_session_timeout: serverTimeoutMs,
      TimeZone: 'UTC',
      ...settings,
    },
    onclose,
    onnotice: () => undefined,
  });
}

/** The driver's connections that stand or fall together. */
interface Connections {
  readonly sql: Sql;
  /** Fails each call that waits for one of them. */
  readonly waiting: Set<(error: Error) => void>;
}

export class Pool {
  readonly #options: PoolOptions;
  #current: Connections;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#current = this.#open();
  }

  /** Runs `work` on the pool, within the pool's deadline. */
  async run<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#within((connections) => work(connections.sql));
  }

  async #within<T>(work: (connections: Connections) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new DatabaseUnavailable('the pool is closed');
    const connections = this.#current;
    const { deadlineMs } = this.#options;
    const { promise: expired, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new DatabaseUnavailable(`no answer from the database in ${deadlineMs} ms`));
      this.#retire(connections, 0);
    }, deadlineMs);
    const result = work(connections);
    result.catch(() => undefined);
    try {
      return await Promise.race([result, expired]);
    } catch (error) {
      if (hasCode(error, LOST)) this.#retire(connections);
      throw isUnavailable(error) && !(error instanceof DatabaseUnavailable)
        ? new DatabaseUnavailable('the database is out of reach', { cause: error })
        : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Runs `work` in one transaction: commits when it returns, rolls back when it throws. A statement that failed fails
   * the transaction, also when `work` caught its error. `before` makes statements of their own, sent ahead on the
   * same connection, so that they cost no round trip.
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>, before: (sql: Tx) => readonly Sendable[] = () => []): Promise<T> {
    return this.#within(async (connections) => {
      const connection = await reserve(connections);
      let isLost = false;
      try {
        const ahead = before(connection).map((statement) => statement.execute());
        // Not waited for: the first statement of the work travels right behind it. Executed, as what goes ahead of it is:
        // the driver sends a query when it is awaited, and so those that are awaited through more promises later.
        const begun = connection`begin`.execute();
        const result = await Promise.race([commit(connection, work), lossOf([...ahead, begun])]);
        await Promise.all(ahead);
        return result;
      } catch (error) {
        isLost = hasCode(error, LOST);
        if (!isLost) await connection`rollback`;
        throw error;
      } finally {
        // A lost connection is left to the retired pool: given back, it would be used as if it were open.
        if (!isLost) connection.release();
      }
    });
  }

  /** Waits for what is running, up to `timeoutS`, then closes for good: later calls fail. */
  async close(timeoutS = 5): Promise<void> {
    this.#isClosed = true;
    await this.#current.sql.end({ timeout: timeoutS });
  }

  #open(): Connections {
    const opened: Connections = { sql: open(this.#options, () => this.#lose(opened)), waiting: new Set() };
    return opened;
  }

  #lose(connections: Connections): void {
    this.#retire(connections);
    // The driver opens the closed one again for a call that has failed, and what it has ended it does not end twice.
    const driver = connections.sql as Sql & { close(): Promise<void> };
    queueMicrotask(() => void driver.close());
  }

  /** Puts new connections in the place of `retired`, which are closed when their calls have ended, after `timeoutS` at most. */
  #retire(retired: Connections, timeoutS = this.#options.deadlineMs / 1_000): void {
    if (this.#current === retired && !this.#isClosed) this.#current = this.#open();
    for (const fail of retired.waiting) fail(new DatabaseUnavailable('a connection was lost'));
    retired.waiting.clear();
    retired.sql.end({ timeout: timeoutS }).catch(() => undefined);
  }
}

/** A connection of its own for one call; fails as soon as another one of them is lost. */
function reserve({ sql, waiting }: Connections): Promise<postgres.ReservedSql<Record<never, never>>> {
  return new Promise((resolve, reject) => {
    waiting.add(reject);
    sql.reserve().then(
      (connection) => {
        if (waiting.delete(reject)) resolve(connection);
        else connection.release();
      },
      (error: Error) => {
        waiting.delete(reject);
        reject(error);
      },
    );
  });
}

const leftToCommit = new WeakMap<Tx, Promise<unknown>[]>();

/**
 * Lets statements that `work` has begun on `tx` travel with its commit: the transaction fails as the first of them that
 * fails. Their results may be awaited when it is over.
 */
export function leaveToCommit(tx: Tx, ...statements: readonly Promise<unknown>[]): void {
  for (const statement of statements) statement.catch(() => undefined);
  leftToCommit.set(tx, [...(leftToCommit.get(tx) ?? []), ...statements]);
}

async function commit<T>(connection: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  leftToCommit.delete(connection);
  const result = await work(connection);
  const [{ command }] = await Promise.all([connection`commit`, ...(leftToCommit.get(connection) ?? [])]);
  if (command !== 'COMMIT') throw new Error('a statement of the transaction had failed: it was rolled back');
  return result;
}

/** Fails when one of `statements` shows that the connection was lost, whatever becomes of those behind them. */
function lossOf(statements: readonly Promise<unknown>[]): Promise<never> {
  return new Promise((_, reject) => {
    for (const statement of statements) {
      statement.catch((error: Error) => {
        if (hasCode(error, LOST)) reject(error);
      });
    }
  });
}
