import type { Logger } from '../log-lines.ts';
import { logUnavailable } from './outage-log.ts';
import { isUnavailable } from './unavailable.ts';

/**
 * Keeps a lost connection from ending the process. When a connection is cut while the driver asks the server for its
 * array types (the first thing on each new one), the driver rejects a promise that nobody can hold; the call that
 * wanted the connection fails as well and is tried again. Telling the types to the driver instead was tried: with
 * `fetch_types: false` its `reserve` never returns on a new connection. Any other stray rejection is a bug and throws.
 */
export function outliveLostConnections(log: Logger): void {
  process.on('unhandledRejection', (error) => {
    if (!isUnavailable(error)) throw error;
    logUnavailable(log, error, 'a connection was lost while it was being made');
  });
}
