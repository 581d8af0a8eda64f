import { takeStopSignals } from '../../src/main/service/stop-signals.ts';

const EXIT_INTERRUPTED = 130;

/**
 * From now on an interrupt runs `clean`, then exits with 130; a second, deliberate interrupt exits at once. Returns a function
 * that undoes this.
 */
export function cleanWhenInterrupted(clean: () => Promise<unknown>): () => void {
  return takeStopSignals({
    onStop() {
      // Work under way fails now; its errors do not matter.
      process.on('uncaughtException', () => undefined);
      void clean().finally(() => process.exit(EXIT_INTERRUPTED));
    },
    onInsist: () => process.exit(EXIT_INTERRUPTED),
  });
}
