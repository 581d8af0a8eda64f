/** Which faults of the database mean "not now" rather than "wrong", and when it is asked again. */
/** The database did not answer: out of reach, shutting down, or silent past the deadline. Worth another try. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
  /** Before that, another try fails without asking the server. */
  readonly againInMs: number;

  constructor(message: string, { againInMs = 0, ...options }: ErrorOptions & { readonly againInMs?: number } = {}) {
    super(message, options);
    this.againInMs = againInMs;
  }
}

/**
 * There is no connection: SQLSTATE class 08, refused (class 28, no such database, one that takes no connections), shutdown,
 * an idle or overlong transaction ended; a session that may only read, of which the server's next one may be free; or a code of the driver or socket.
 */
const LOST =
  /^(08...|28...|57P0.|25P0[34]|25006|3D000|53300|55000|CONNECTION_.*|CONNECT_TIMEOUT|ECONN.*|EPIPE|ETIMEDOUT|ENOTFOUND|ENOENT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
/** The connection stands, but the server can't work now: disk or memory full, a standby's replay comes first. */
const OVERLOADED = /^(53[12]00|40001)$/;
/** The one among {@link OVERLOADED} that means a full disk. */
export const REFUSED_WRITE = /^53100$/;

/** The login or its password. */
export const REFUSED_LOGIN = /^28/;

/** A loan's events left the log with their months (drizzle/functions/refuse_away.sql). */
export const HISTORY_AWAY = 'CT423';

/** SQLSTATE of what the login may not do. */
export const PERMISSION_DENIED = '42501';

/** A library that wraps the driver's error leaves it as the cause. */
export function hasCode(error: unknown, codes: RegExp): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  return typeof code === 'string' ? codes.test(code) : cause !== undefined && hasCode(cause, codes);
}

/** What a log line says of a fault: its code, else its name. */
export function codeOf(error: unknown): string | undefined {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: string };
  return typeof code === 'string' ? code : name;
}

/** True for faults that no other statement on the same connection would survive. */
export function isLoss(error: unknown): boolean {
  return error instanceof DatabaseUnavailable || hasCode(error, LOST);
}

/** True when the server answers and only could not do this: no other statement need fail. */
export function isOverloaded(error: unknown): boolean {
  return hasCode(error, OVERLOADED);
}

/** True for faults that another try may mend. */
export function isUnavailable(error: unknown): boolean {
  return isLoss(error) || isOverloaded(error);
}

const NO_CONNECTION_FREE = /^53300$/;
const FIRST_MS = 200;
const LONGEST_MS = 10_000;

/**
 * When a server without a free connection is asked again. To say no, it starts a process; and each loop of a poller asks several times
 * a second, together thirty times. So a pool that was refused opens nothing for a while, twice as long after each refusal. The time
 * is drawn from the upper half of that, or pollers that were refused together would come back together.
 */
export class FullServer {
  readonly #random: () => number;
  readonly #monotonicMs: () => number;
  #longestMs = 0;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(monotonicMs: () => number, random: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#random = random;
  }

  /** Hears how the first use of a connection ended: `error` is null if it could be used. */
  hear(error: unknown): void {
    if (error === null) this.#longestMs = 0;
    if (!hasCode(error, NO_CONNECTION_FREE)) return;
    this.#longestMs = Math.min(Math.max(this.#longestMs * 2, FIRST_MS), LONGEST_MS);
    this.#untilMs = this.#monotonicMs() + this.#longestMs * (1 - this.#random() / 2);
  }

  /** For how long nothing is opened yet. */
  restMs(): number {
    return Math.max(this.#untilMs - this.#monotonicMs(), 0);
  }
}
