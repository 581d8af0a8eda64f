/** The parent's side of the receiver process. */
import { startChild } from './child.ts';
import type { Behaviour } from './receiver-process.ts';

export interface Arrival {
  readonly path: string;
  /** `emprestimo_id` of the body. */
  readonly id: string;
  /** {@link monotonicMs} */
  readonly atMs: number;
}

interface Counters {
  readonly posts: number;
  /** Answered with 503. */
  readonly refused: number;
  readonly checked: number;
  readonly badSignatures: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** The longest time between two POSTs. */
  readonly gapMs: number;
}

export interface Receiver {
  readonly url: string;
  readonly pid: number;
  /** Counts from zero again; with `keep`, every arrival is kept. */
  reset(keep?: boolean): Promise<void>;
  counters(): Promise<Counters>;
  arrivals(): Promise<Arrival[]>;
  /** Resolves when `count` POSTs have come since the reset. */
  reached(count: number): Promise<number>;
  behave(behaviours: readonly Behaviour[]): Promise<void>;
  /** The most requests that were open at once, for each path that does not answer at once. */
  peaks(): Promise<number[]>;
  end(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const child = await startChild('receiver');
  return {
    url: await child.ask<string>('url'),
    pid: child.pid,
    reset: (keep = false) => child.ask('reset', keep),
    counters: () => child.ask('counters'),
    arrivals: () => child.ask('arrivals'),
    reached: (count) => child.ask('reached', count),
    behave: (behaviours) => child.ask('behave', behaviours),
    peaks: () => child.ask('peaks'),
    end: () => child.end(),
  };
}
