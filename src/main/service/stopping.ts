/** How `start`, `api` and `poll` end: the first signal drains, and a second one ends the process at once. */
import type { Logger } from '../../log-lines.ts';
import type { OpenDatabase } from './database.ts';
import { openProgress } from '../progress.ts';
import type { Part } from './service.ts';
import { Interrupted, takeStopSignals } from './stop-signals.ts';

/** The longest that leaving at once may take. A slower server has been told to stop by then, and stops by itself. */
const AT_ONCE_MS = 10_000;

/** Listens for the signals from now on; `signal` aborts with the first. */
export function startStopping(log: Logger) {
  const stop = new AbortController();
  let opening: Promise<OpenDatabase | null> = Promise.resolve(null);
  /** Leaves with exit code 1: waits for nothing that is in flight, but stops the embedded server. */
  const leaveAtOnce = (reason: string): void => {
    log.error({ reason }, 'leaving without draining; leases end by themselves');
    setTimeout(() => process.exit(1), AT_ONCE_MS);
    void opening
      .then((database) => database?.close())
      .catch(() => undefined)
      .finally(() => process.exit(1));
  };
  takeStopSignals({
    onStop(signal) {
      log.info({ signal }, 'draining: no new work; a signal more than a second from now leaves at once');
      stop.abort(new Interrupted(signal));
    },
    onInsist: (signal) => leaveAtOnce(`${signal} came again`),
  });
  /** What leaving at once must not leave behind. */
  const closes = (database: Promise<OpenDatabase>): void => {
    opening = database;
  };
  return { signal: stop.signal, closes, leaveAtOnce };
}

const SHOW_EVERY_MS = 500;

/** Shows a person at a terminal how the drain goes on. Returns what ends that. */
export function showDrain(parts: readonly Part[]): () => void {
  const progress = openProgress();
  const startedAt = performance.now();
  const show = (): void => {
    const inFlight = parts.reduce((sum, part) => sum + (part.inFlight?.() ?? 0), 0);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    // The cursor goes back to its start, so that a log line takes its place.
    progress.show(`draining for ${seconds} s, deliveries in flight: ${inFlight}; Ctrl-C again leaves at once\r`);
  };
  show();
  const timer = setInterval(show, SHOW_EVERY_MS);
  return () => {
    clearInterval(timer);
    progress.end();
  };
}
