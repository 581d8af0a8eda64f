/**
 * One connection: a client of the driver that has no other, used by one call at a time.
 *
 * This tells us whose connection closed. The driver fails only the queries it has sent; it is silent about queries that wait
 * for a statement to be prepared. A lost connection is never used again: the driver would reopen it by itself and continue
 * there in the middle of a transaction. A URL of several hosts is tried host by host, as libpq does; the driver's own way goes
 * on for ever, without a word, while all of them are away.
 */
import type { DatabaseHost, WantedServer } from '../../database-url.ts';
import { DatabaseUnavailable, hasCode, isLoss } from '../unavailable.ts';
import type { Tx } from '../sql.ts';
import { type Client, clientOf, type ConnectionOptions } from './client.ts';
import { greetingOf } from './session-settings.ts';

/** If the driver replaces a lost connection at all, it has done so after this time. */
const REOPENED_MS = 5_000;
/** The server has refused us, so another host is not asked: a wrong password, no such database. */
const REFUSED = /^(28...|3D000)$/;
/** Behind `vacuum full pg_type`, say, nobody's first statement goes on. */
const CANCELLED = /^57014$/;

interface Server {
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
}

const SUITS: Readonly<Record<WantedServer, (server: Server) => boolean>> = {
  any: () => true,
  'read-write': ({ isStandby, isReadOnly }) => !isStandby && !isReadOnly,
  'read-only': ({ isStandby, isReadOnly }) => isStandby || isReadOnly,
  primary: ({ isStandby }) => !isStandby,
  standby: ({ isStandby }) => isStandby,
  'prefer-standby': ({ isStandby }) => isStandby,
};

/** One connection, made when it is first used. */
export class Connection {
  isLost = false;
  /** Nothing was answered on it yet. */
  isNew = true;
  /** Fails the call that uses it. */
  fail: ((error: Error) => void) | null = null;
  readonly #options: ConnectionOptions;
  readonly #onLost: (connection: Connection) => void;
  #opening: Promise<Client> | null = null;
  /** Why the server ends it (class 57), where it says so: of a crash, as for a disk without room for its log. */
  #lastWords: Error | undefined;
  /** The one that is open, or is being opened. */
  #client: Client | null = null;

  constructor(options: ConnectionOptions, onLost: (connection: Connection) => void) {
    this.#options = options;
    this.#onLost = onLost;
  }

  /** Why a call failed whose connection is gone, with the server's own words. */
  lost(): DatabaseUnavailable {
    return new DatabaseUnavailable('the connection was lost', { cause: this.#lastWords });
  }

  /** Runs `work` on a client that sends to this connection alone. Once the connection is lost, the client refuses to send. */
  async use<T>(work: (sql: Tx) => Promise<T>): Promise<T> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    const client = await this.#opening;
    const reserved = await client.reserve();
    const guarded = (...args: Parameters<typeof reserved>) => {
      if (this.isLost) throw this.lost();
      return reserved(...args);
    };
    try {
      return await work(Object.assign(guarded, reserved) as typeof reserved);
    } finally {
      // The driver would use a lost one that is given back as if it were open.
      if (!this.isLost) reserved.release();
    }
  }

  /** Ends it once it is idle, within this many seconds. */
  async end(timeoutS: number): Promise<void> {
    await this.#client?.end({ timeout: timeoutS });
  }

  /** Ends it in the middle of whatever it does. */
  destroy(): void {
    if (this.#client !== null) drop(this.#client);
  }

  async #open(): Promise<Client> {
    const { place } = this.#options;
    const passes = place.wanted === 'prefer-standby' ? [SUITS.standby, SUITS.any] : [SUITS[place.wanted]];
    const refusals: string[] = [];
    let last: unknown = null;
    for (const suits of passes) {
      for (const host of place.hosts) {
        try {
          const client = await this.#openOn(host, suits);
          if (client !== null) return client;
          refusals.push(`${host.name}:${host.port}: not ${place.wanted}`);
        } catch (error) {
          if (this.isLost || place.hosts.length === 1 || !isLoss(error) || hasCode(error, REFUSED)) throw error;
          refusals.push(`${host.name}:${host.port}: ${(error as Error).message}`);
          last = error;
        }
      }
    }
    throw new DatabaseUnavailable(`no host of the database's URL can be used (${refusals.join('; ')})`, {
      cause: last,
    });
  }

  /** Null when the server is not one that `suits`. */
  async #openOn(host: DatabaseHost, suits: (server: Server) => boolean): Promise<Client | null> {
    let isOpen = false;
    const onClose = () => {
      // The driver may reopen it for a call that has failed already; nobody else would close that connection.
      queueMicrotask(() => void client.close());
      if (isOpen) this.#onLost(this);
    };
    const client = await clientOf(this.#options, host, onClose, ({ code = '', message = '' }) => {
      if (code.startsWith('57')) this.#lastWords = Object.assign(new Error(message), { code });
    });
    this.#client = client;
    if (this.isLost) throw new DatabaseUnavailable('the connection was lost');
    try {
      // Not yet reserved: the driver never returns a new connection to who reserves it first.
      const [server] = await client.unsafe<[Server]>(greetingOf(!this.#options.prepare));
      isOpen = suits(server);
      return isOpen ? client : null;
    } catch (error) {
      if (!hasCode(error, CANCELLED)) throw error;
      throw new DatabaseUnavailable('the server did not begin a session in time', { cause: error });
    } finally {
      if (!isOpen) drop(client);
    }
  }
}

/** Closes it at once, and again after the driver has had time to reopen it. */
function drop(client: Client): void {
  client.end({ timeout: 0 }).catch(() => undefined);
  setTimeout(() => void client.close(), REOPENED_MS).unref();
}
