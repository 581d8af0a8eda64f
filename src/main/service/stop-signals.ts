/**
 * The signals that end a long-running command.
 *
 * Signals within a second of the first count as that one, because one Ctrl-C may arrive twice: from the terminal's foreground
 * group, and from npm (or systemd). A later one ends the process immediately. A closing terminal sends SIGHUP and closes the
 * outputs; later writes are lost, and the drain continues.
 */
import type { Logger } from '../../log-lines.ts';
import { openProgress } from '../progress.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
type StopSignal = (typeof STOP_SIGNALS)[number];

const SAME_SIGNAL_MS = 1_000;

/** Takes the signals over from now on. Returns what gives them back. */
export function takeStopSignals({
  onStop,
  onInsist,
  monotonicMs = () => performance.now(),
  source = process,
}: {
  /** Called once, with the first signal. */
  readonly onStop: (signal: StopSignal) => void;
  /** Called once, with the first signal that comes later than a second after that. */
  readonly onInsist: (signal: StopSignal) => void;
  readonly monotonicMs?: () => number;
  readonly source?: NodeJS.EventEmitter;
}): () => void {
  let firstAtMs: number | null = null;
  let isInsisted = false;
  const onSignal = (signal: StopSignal): void => {
    const nowMs = monotonicMs();
    if (firstAtMs === null) {
      firstAtMs = nowMs;
      onStop(signal);
    } else if (nowMs - firstAtMs > SAME_SIGNAL_MS && !isInsisted) {
      isInsisted = true;
      onInsist(signal);
    }
  };
  const streams = [process.stdout, process.stderr];
  for (const signal of STOP_SIGNALS) source.on(signal, onSignal);
  for (const stream of streams) stream.on('error', ignore);
  return () => {
    for (const signal of STOP_SIGNALS) source.off(signal, onSignal);
    for (const stream of streams) stream.off('error', ignore);
  };
}

function ignore(): void {
  // The terminal is gone.
}

/** Runs `work` until it ends or a signal stops it; a second signal leaves at once. */
export async function untilStopped<T>(work: (stopping: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const giveBack = takeStopSignals({ onStop: () => stop.abort(), onInsist: () => process.exit(1) });
  return work(stop.signal).finally(giveBack);
}

export class Interrupted extends Error {
  override name = 'Interrupted';

  constructor(signal: StopSignal) {
    super(`stopped by ${signal}`);
  }
}

/** What `work` comes to, unless it is told to stop before that: then throws the signal's reason. */
export async function unlessStopped<T>(stopping: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(stopping.reason as Error);
  stopping.addEventListener('abort', onAbort);
  if (stopping.aborted) onAbort();
  try {
    return await Promise.race([work, stopped]);
  } finally {
    stopping.removeEventListener('abort', onAbort);
  }
}

/** The longest that leaving at once may take. A slower server has been told to stop by then, and stops by itself. */
const AT_ONCE_MS = 10_000;

interface Closing {
  close(): Promise<void>;
}

/** Listens for the signals from now on; `signal` aborts with the first. */
export function startStopping(log: Logger) {
  const stop = new AbortController();
  let opening: Promise<Closing | null> = Promise.resolve(null);
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
  const closes = (database: Promise<Closing>): void => {
    opening = database;
  };
  return { signal: stop.signal, closes, leaveAtOnce };
}

const SHOW_EVERY_MS = 500;

/** Shows a person at a terminal how the drain goes on. Returns what ends that. */
export function showDrain(parts: readonly { readonly inFlight?: () => number }[]): () => void {
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
