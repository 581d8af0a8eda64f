/** The database did not answer: unreachable, shutting down, or silent past the deadline. Another try is worthwhile. */
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
 * No connection: SQLSTATE class 08, refused (class 28, no such database), shutdown, an idle or overlong transaction ended; a read-only
 * session, whose successor may not be; or a code of the driver or socket.
 */
const LOST =
  /^(08...|28...|57P0.|25P0[34]|25006|3D000|53300|CONNECTION_.*|CONNECT_TIMEOUT|ECONN.*|EPIPE|ETIMEDOUT|ENOTFOUND|ENOENT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
/** Of a refused session: the database takes none (datallowconn). A statement that fails with this code leaves its connection as it is. */
const TAKES_NONE = /^55000$/;
/** The connection stands, but the server cannot work now: disk or memory full, or a standby's replay has precedence. */
const OVERLOADED = /^(53[12]00|40001)$/;
/** A full disk. */
export const REFUSED_WRITE = /^53100$/;

/** Bad login or password. */
export const REFUSED_LOGIN = /^28/;

/** A loan's events left the log with their months (refuse_away.sql). */
export const HISTORY_AWAY = 'CT423';

export const PERMISSION_DENIED = '42501';

/** Libraries wrap the driver's error and leave it as the cause. */
export function hasCode(error: unknown, codes: RegExp): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  return typeof code === 'string' ? codes.test(code) : cause !== undefined && hasCode(cause, codes);
}

/** For log lines: the error's code, else its name. */
export function codeOf(error: unknown): string | undefined {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: string };
  return typeof code === 'string' ? code : name;
}

/** Faults that no other statement on this connection would survive. */
export function isLoss(error: unknown): boolean {
  return error instanceof DatabaseUnavailable || hasCode(error, LOST) || (isFatal(error) && hasCode(error, TAKES_NONE));
}

function isFatal(error: unknown): boolean {
  const { severity, cause } = (error ?? {}) as { severity?: unknown; cause?: unknown };
  return severity === 'FATAL' || (cause !== undefined && isFatal(cause));
}

/** The server answers and only could not do this: other statements need not fail. */
export function isOverloaded(error: unknown): boolean {
  return hasCode(error, OVERLOADED);
}

/** Faults that another try may cure. */
export function isUnavailable(error: unknown): boolean {
  return isLoss(error) || isOverloaded(error);
}

const NO_CONNECTION_FREE = /^53300$/;
const FIRST_MS = 200;
const LONGEST_MS = 10_000;

/**
 * When a server without a free connection is asked again. Each refusal costs it a process, and a poller's loops ask thirty times a second.
 * So a refused pool opens nothing for a while, twice as long after each refusal, drawn from the upper half so that pollers do not return
 * together.
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

  /** `error` is null if the connection could be used. */
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
