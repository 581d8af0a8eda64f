import { takeStopSignals } from '../../src/main/stop-signals.ts';

const EXIT_INTERRUPTED = 130;

/**
 * From now on an interrupt runs `clean`, then leaves with 130; another that is meant leaves without. Returns what takes
 * that back.
 */
export function cleanWhenInterrupted(clean: () => Promise<unknown>): () => void {
  return takeStopSignals({
    onStop() {
      // What is under way fails now, and nobody wants to know.
      process.on('uncaughtException', () => undefined);
      void clean().finally(() => process.exit(EXIT_INTERRUPTED));
    },
    onInsist: () => process.exit(EXIT_INTERRUPTED),
  });
}
