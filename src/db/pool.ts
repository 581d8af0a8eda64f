/**
 * Connections with a deadline.
 *
 * Invariant: no call to the database waits for ever. The server ends a slow statement (`statement_timeout`), so a call
 * that is still open at the client's later deadline has lost its connection without being told: the driver would wait
 * on a black-holed socket for good. All sockets of the pool are then destroyed and the pool is made anew, which every
 * waiting caller sees as a `DatabaseUnavailable`. A commit whose answer is lost that way may have happened.
 */
import postgres from 'postgres';

export type Sql = postgres.Sql<Record<never, never>>;
/** A transaction, or a connection outside one: anything that takes a tagged query. */
export type Tx = postgres.ISql<Record<never, never>>;

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
}

/** The server gives up this much earlier than the client, so that only a silent network reaches the client's deadline. */
const SERVER_LEAD_MS = 1_000;

/** SQLSTATE classes and codes, and driver codes, that mean "not now" rather than "wrong". */
const UNAVAILABLE =
  /^(08...|57P0.|53[123]00|25006|CONNECTION_.*|CONNECT_TIMEOUT|ECONN.*|EPIPE|ETIMEDOUT|ENOTFOUND|ENOENT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;

export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && UNAVAILABLE.test(code);
}

function open({ url, name, max, deadlineMs, prepare = true }: PoolOptions): Sql {
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
    },
    onnotice: () => undefined,
  });
}

export class Pool {
  readonly #options: PoolOptions;
  #sql: Sql;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#sql = open(options);
  }

  /** Runs `work` on the pool, within the pool's deadline. */
  async run<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const sql = this.#sql;
    const { deadlineMs } = this.#options;
    const { promise: expired, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new DatabaseUnavailable(`no answer from the database in ${deadlineMs} ms`));
      this.#replace(sql);
    }, deadlineMs);
    const result = work(sql);
    result.catch(() => undefined);
    try {
      return await Promise.race([result, expired]);
    } catch (error) {
      throw isUnavailable(error) && !(error instanceof DatabaseUnavailable)
        ? new DatabaseUnavailable('the database is out of reach', { cause: error })
        : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Runs `work` in one transaction: commits when it returns, rolls back when it throws. */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.run(async (sql) => (await sql.begin((tx) => work(tx))) as T);
  }

  /** Waits for what is running, up to `timeoutS`, then closes. */
  async close(timeoutS = 5): Promise<void> {
    await this.#sql.end({ timeout: timeoutS });
  }

  #replace(stuck: Sql): void {
    if (this.#sql !== stuck) return;
    this.#sql = open(this.#options);
    stuck.end({ timeout: 0 }).catch(() => undefined);
  }
}
