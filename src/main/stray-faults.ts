/** What is left to a process when an error has nobody who holds it. */
import { reasonOf } from './reason.ts';

const OF_DRIVER = /[\\/]node_modules[\\/]postgres[\\/]/;
const PLACE = /\bsrc[\\/][^:\s]{1,200}:\d{1,6}/;

/**
 * The driver works out its answer to a server's challenge in a promise that nobody holds. The connection ends by its own time-out
 * then, and the call that wanted it hears that: the process goes on. Any other stray error is a bug, and ends the process with a
 * sentence and the place in our source.
 */
export function tellStrayFaults(): void {
  process.on('unhandledRejection', (error) => {
    if (!OF_DRIVER.test((error as Error | null)?.stack ?? '')) throw error;
  });
  process.on('uncaughtException', (error) => {
    const [place] = PLACE.exec(error?.stack ?? '') ?? [];
    process.stderr.write(`carteiro: ${reasonOf(error)}${place === undefined ? '' : ` (${place})`}\n`);
    process.exit(1);
  });
}
