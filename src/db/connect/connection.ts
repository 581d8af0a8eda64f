/**
 * One connection: a driver's client that has no other, used by one call at a time, so we know whose connection closed. The driver fails
 * only queries it has sent, not those waiting for a statement to be prepared.
 * A lost connection is never reused: the driver would reopen it and continue in the middle of a transaction. A URL of several hosts is
 * tried host by host, as libpq does; the driver would retry silently for ever while all are down.
 */
import type { DatabaseHost, WantedServer } from '../../settings/database-url.ts';
import { DatabaseUnavailable, hasCode, isLoss } from '../unavailable.ts';
import type { Tx } from '../sql.ts';
import { type Client, clientOf, type ConnectionOptions } from './client.ts';
import { greetingOf } from './session-settings.ts';

/** If the driver reopens a lost connection at all, it does so within this time. */
const REOPENED_MS = 5_000;
/** A refusal that another host would repeat: wrong password, no such database. */
const REFUSED = /^(28...|3D000)$/;
/** For example behind `vacuum full pg_type`, where every first statement hangs. */
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

export class Connection {
  isLost = false;
  /** Nothing was answered on it yet. */
  isNew = true;
  fail: ((error: Error) => void) | null = null;
  readonly #options: ConnectionOptions;
  readonly #onLost: (connection: Connection) => void;
  #opening: Promise<Client> | null = null;
  /** The reason the server gave for ending it (class 57), for example a crash for want of disk space. */
  #lastWords: Error | undefined;
  /** Open or being opened. */
  #client: Client | null = null;

  constructor(options: ConnectionOptions, onLost: (connection: Connection) => void) {
    this.#options = options;
    this.#onLost = onLost;
  }

  /** The error of a call whose connection is gone, with the server's reason. */
  lost(): DatabaseUnavailable {
    return new DatabaseUnavailable('the connection was lost', { cause: this.#lastWords });
  }

  /** Runs `work` on a client of this connection alone; after a loss the client refuses to send. */
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
      // The driver would reuse a lost one that is given back.
      if (!this.isLost) reserved.release();
    }
  }

  /** Closes it once idle, within this many seconds. */
  async end(timeoutS: number): Promise<void> {
    await this.#client?.end({ timeout: timeoutS });
  }

  /** Closes it at once. */
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

  /** Null when the server does not suit. */
  async #openOn(host: DatabaseHost, suits: (server: Server) => boolean): Promise<Client | null> {
    let isOpen = false;
    const onClose = () => {
      // The driver may reopen it for a call that already failed; nothing else would close that connection.
      queueMicrotask(() => void client.close());
      if (isOpen) this.#onLost(this);
    };
    const client = await clientOf(this.#options, host, onClose, ({ code = '', message = '' }) => {
      if (code.startsWith('57')) this.#lastWords = Object.assign(new Error(message), { code });
    });
    this.#client = client;
    if (this.isLost) throw new DatabaseUnavailable('the connection was lost');
    try {
      // Before reserving: the driver never returns a new connection to its first reserver.
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

/** Closes it at once, and again after the driver may have reopened it. */
function drop(client: Client): void {
  client.end({ timeout: 0 }).catch(() => undefined);
  setTimeout(() => void client.close(), REOPENED_MS).unref();
}
