/** What a figure is, and what it is given. */
import type { Receiver } from './harness/receiver.ts';
import type { Server } from './harness/server.ts';
import type { Progress } from './harness/progress.ts';

export interface Bench {
  readonly server: Server;
  readonly receiver: Receiver;
  /** Smaller sizes, for a smoke run: nothing is judged. */
  readonly isQuick: boolean;
  readonly seed: number;
  /** How often each side of a comparison is measured, in turn. */
  readonly rounds: number;
  readonly progress: Progress;
}

export type Bar = { readonly at: 'least' | 'most'; readonly value: number };

/** One measured number. Without a bar it is told, not judged. */
export interface Measured {
  readonly id: string;
  readonly label: string;
  readonly value: number;
  readonly unit: string;
  readonly bar: Bar | null;
}

export interface Figure {
  readonly id: string;
  /** One line for --help. */
  readonly about: string;
  run(bench: Bench): Promise<Measured[]>;
}

export function holds({ value, bar }: Measured): boolean | null {
  if (bar === null) return null;
  return bar.at === 'least' ? value >= bar.value : value <= bar.value;
}

export const atLeast = (value: number): Bar => ({ at: 'least', value });
export const atMost = (value: number): Bar => ({ at: 'most', value });

/** A measured number; without `bar` it is told, not judged. */
export function reported(id: string, label: string, value: number, unit: string, bar: Bar | null = null): Measured {
  return { id, label, value, unit, bar };
}
