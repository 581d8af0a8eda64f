/**
 * One connection: a client of the driver that has no other, used by one call at a time.
 *
 * This tells us whose connection closed. The driver fails only the queries it has sent; it is silent about queries that wait
 * for a statement to be prepared, or for the types it asks for. A lost connection is never used again: the driver would
 * reopen it by itself and continue there in the middle of a transaction.
 */
import postgres from 'postgres';
import { DEFAULT_INSTALLATION, searchPathOf } from '../installation.ts';
import { ipv6Host } from './ipv6-host.ts';
import type { Sql, Tx } from '../sql.ts';
import { type DatabaseTls, TLS_PARAMETERS } from './tls.ts';
import { DatabaseUnavailable } from '../unavailable.ts';

/** How to connect. */
export interface ConnectionOptions {
  readonly url: string;
  /** What the URL says of TLS (tls.ts). */
  readonly tls?: DatabaseTls;
  /** Where the tables are; `carteiro` unless it is given. */
  readonly schema?: string | undefined;
  /** Shown in `pg_stat_activity`. */
  readonly name: string;
  /** The longest that one call may take, waiting for a free connection included; at least 2,000. */
  readonly deadlineMs: number;
  /** False behind a pooler in transaction mode. */
  readonly prepare?: boolean;
  /** Settings of every session. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** The server gives up this much earlier than the client, so that only a silent network reaches the client's deadline. */
const SERVER_LEAD_MS = 1_000;
/** If the driver replaces a lost connection at all, it has done so after this time. */
const REOPENED_MS = 5_000;

/** The session of a machine that is gone without a word is ended after a minute and a half, not after two hours. */
const KEEPALIVES = { tcp_keepalives_idle: 60, tcp_keepalives_interval: 10, tcp_keepalives_count: 3 };

/**
 * The URL without what the driver is told beside it. It lets the parameters of a URL win: a search path in it would find the
 * core's tables instead of ours.
 */
function driverUrl(url: string): string {
  if (!URL.canParse(url)) return url;
  const own = new URL(url);
  for (const name of ['search_path', ...TLS_PARAMETERS]) own.searchParams.delete(name);
  return own.href;
}

function open(options: ConnectionOptions, onclose: () => void): Sql {
  const { url, tls, schema = DEFAULT_INSTALLATION.schema, name, deadlineMs, prepare = true, settings = {} } = options;
  const serverTimeoutMs = deadlineMs - SERVER_LEAD_MS;
  return postgres(driverUrl(url), {
    ...ipv6Host(url),
    ...tls,
    max: 1,
    prepare,
    connect_timeout: 3,
    max_lifetime: null,
    backoff: () => 0.05,
    connection: {
      application_name: name,
      statement_timeout: serverTimeoutMs,
      idle_in_transaction_session_timeout: serverTimeoutMs,
      transaction_timeout: deadlineMs,
      tcp_user_timeout: deadlineMs,
      ...KEEPALIVES,
      TimeZone: 'UTC',
      search_path: searchPathOf(schema),
      ...settings,
    },
    onclose,
    onnotice: () => undefined,
  });
}

/** One connection, made when it is first used. */
export class Connection {
  readonly sql: Sql;
  isLost = false;
  /** Nothing was answered on it yet. */
  isNew = true;
  /** Fails the call that uses it. */
  fail: ((error: Error) => void) | null = null;
  /** `close` of the driver: unlike `end`, it works a second time. */
  readonly #driver: { close(): Promise<void> };
  #isClosed = false;

  constructor(options: ConnectionOptions, onLost: (connection: Connection) => void) {
    this.sql = open(options, () => {
      this.#isClosed = true;
      onLost(this);
      // The driver may reopen it for a call that has failed already; nobody else would close that connection.
      queueMicrotask(() => void this.#driver.close());
    });
    this.#driver = this.sql as Sql & { close(): Promise<void> };
  }

  /** Runs `work` on a client that sends to this connection alone. Once the connection is lost, the client refuses to send. */
  async use<T>(work: (sql: Tx) => Promise<T>): Promise<T> {
    const reserved = await this.sql.reserve();
    const guarded = (...args: Parameters<typeof reserved>) => {
      if (this.isLost) throw new DatabaseUnavailable('the connection was lost');
      return reserved(...args);
    };
    try {
      return await work(Object.assign(guarded, reserved) as typeof reserved);
    } finally {
      // The driver would use a lost one that is given back as if it were open.
      if (!this.isLost) reserved.release();
    }
  }

  /** Ends it in the middle of whatever it does, and again after the driver has had time to reopen it. */
  destroy(): void {
    if (this.#isClosed) return;
    this.sql.end({ timeout: 0 }).catch(() => undefined);
    setTimeout(() => void this.#driver.close(), REOPENED_MS).unref();
  }
}
