/** What is left to a process when an error has nobody who holds it. */
import { reasonOf } from './reason.ts';

const OF_DRIVER = /[\\/]node_modules[\\/]postgres[\\/]/;
const OURS = /[\\/](?=src[\\/])/;

/**
 * The driver answers a server's challenge in a promise that nobody holds; the connection's time-out tells the caller, and the
 * process goes on. Any other stray error is a bug, and ends the process with a sentence and the place in our source.
 */
export function tellStrayFaults(): void {
  process.on('unhandledRejection', (error) => {
    if (!OF_DRIVER.test((error as Error | null)?.stack ?? '')) throw error;
  });
  process.on('uncaughtException', (error) => {
    const frame = (error?.stack ?? '').split('\n').find((line) => line.startsWith('    at ') && OURS.test(line));
    const place = frame === undefined ? '' : ` (${frame.slice(frame.search(OURS) + 1).replace(')', '')})`;
    process.stderr.write(`carteiro: ${reasonOf(error)}${place}\n`);
    process.exit(1);
  });
}
