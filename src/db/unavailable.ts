/** Which faults of the database mean "not now" rather than "wrong". */
/** The database did not answer: out of reach, shutting down, or silent past the deadline. Worth another try. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
}

/**
 * There is no connection: SQLSTATE class 08, refused (class 28, no such database, one that takes no connections), shutdown,
 * an idle or overlong transaction ended; or a code of the driver or socket.
 */
const LOST =
  /^(08...|28...|57P0.|25P0[34]|3D000|53300|55000|CONNECTION_.*|CONNECT_TIMEOUT|ECONN.*|EPIPE|ETIMEDOUT|ENOTFOUND|ENOENT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
/** The connection stands, but the server can't work now: disk or memory full, read-only during a switch-over, a standby's replay comes first. */
const OVERLOADED = /^(53[12]00|25006|40001)$/;
/** The one among {@link OVERLOADED} that means a full disk. */
export const REFUSED_WRITE = /^53100$/;

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
