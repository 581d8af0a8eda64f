/**
 * The signals that end a long-running command.
 *
 * Each signal within a second of the first counts as that one, because one Ctrl-C may arrive twice: from the terminal's foreground
 * group, and from npm (or systemd). A later one ends the process at once. A closing terminal sends SIGHUP and takes the outputs
 * with it; later writes are lost, and the drain goes on.
 */

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

const SAME_SIGNAL_MS = 1_000;

export interface StopSignalOptions {
  /** Called once, with the first signal. */
  readonly onStop: (signal: StopSignal) => void;
  /** Called once, with the first signal that comes later than a second after that. */
  readonly onInsist: (signal: StopSignal) => void;
  readonly monotonicMs?: () => number;
  readonly source?: NodeJS.EventEmitter;
}

/** Takes the signals over from now on. Returns what gives them back. */
export function takeStopSignals(options: StopSignalOptions): () => void {
  const { onStop, onInsist, monotonicMs = () => performance.now(), source = process } = options;
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
export async function unlessStopped<T>(stopping: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (stopping === undefined) return work;
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
