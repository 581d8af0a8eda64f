/**
 * One connection: a client of the driver that has no other, used by one call at a time.
 *
 * So it is known whose connection closed: the driver fails only what it has sent, and of what waits behind a statement
 * being prepared, or for the types it asks for, it says nothing. What is lost is not used again: the driver would open it
 * of its own accord, and go on there in the middle of a transaction.
 */
import postgres from 'postgres';
import { DEFAULT_INSTALLATION, searchPathOf } from './installation.ts';
import { ipv6Host } from './ipv6-host.ts';
import type { Sql, Tx } from './pool.ts';
import { DatabaseUnavailable } from './unavailable.ts';

/** How to connect. */
export interface ConnectionOptions {
  readonly url: string;
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
/** After this long the driver has opened again what it was going to open for a connection that was lost. */
const REOPENED_MS = 5_000;

/** The session of a machine that is gone without a word is ended after a minute and a half, not after two hours. */
export const KEEPALIVES = { tcp_keepalives_idle: 60, tcp_keepalives_interval: 10, tcp_keepalives_count: 3 };

/** The driver lets the parameters of a URL win: a search path in it would find the core's tables instead of ours. */
export function withoutSearchPath(url: string): string {
  if (!URL.canParse(url)) return url;
  const own = new URL(url);
  own.searchParams.delete('search_path');
  return own.href;
}

function open(options: ConnectionOptions, onclose: () => void): Sql {
  const { url, schema = DEFAULT_INSTALLATION.schema, name, deadlineMs, prepare = true, settings = {} } = options;
  const serverTimeoutMs = deadlineMs - SERVER_LEAD_MS;
  return postgres(withoutSearchPath(url), {
    ...ipv6Host(url),
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
  /** Fails the call that uses it. */
  fail: ((error: Error) => void) | null = null;
  /** What the driver ends its connections with, one by one: its `end` does nothing the second time. */
  readonly #driver: { close(): Promise<void> };
  #isClosed = false;

  constructor(options: ConnectionOptions, onLost: (connection: Connection) => void) {
    this.sql = open(options, () => {
      this.#isClosed = true;
      onLost(this);
      // The driver opens it again for a call that has failed, and nobody else would close that.
      queueMicrotask(() => void this.#driver.close());
    });
    this.#driver = this.sql as Sql & { close(): Promise<void> };
  }

  /** Runs `work` on a client that sends to this connection alone, and nothing any more once it is lost. */
  async use<T>(work: (sql: Tx) => Promise<T>): Promise<T> {
    const reserved = await this.sql.reserve();
    const guarded = (...args: Parameters<typeof reserved>) => {
      if (this.isLost) throw new DatabaseUnavailable('the connection was lost');
      return reserved(...args);
    };
    try {
      return await work(Object.assign(guarded, reserved) as typeof reserved);
    } finally {
      // Given back, a lost one would be used as if it were open.
      if (!this.isLost) reserved.release();
    }
  }

  /** Ends what it is doing, whatever that is; once more when the driver has had the time to open it again. */
  destroy(): void {
    if (this.#isClosed) return;
    this.sql.end({ timeout: 0 }).catch(() => undefined);
    setTimeout(() => void this.#driver.close(), REOPENED_MS).unref();
  }
}
