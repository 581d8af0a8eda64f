/**
 * A webhook with more due than can be sent, on a clock of its own: its lane's window, and a receiver that is a function of
 * what it holds. What ends is told of in flushes some milliseconds apart, then the lane is filled again.
 */
import { createRandom, type Random } from '../support/random.ts';
import { NEW_PACE, nextWindow, type Pace } from '../../src/delivery/queue/window.ts';

const FLUSH_MS = 10;

/** How a POST ends that comes to a receiver which holds so many others. */
export type Receiver = (held: number, random: Random, atMs: number) => Ending;

interface Ending {
  readonly says: 'good' | 'bad' | 'silence';
  readonly tookMs: number;
}

export interface Seen {
  readonly attempts: number;
  readonly bad: number;
  readonly perSecond: number;
  /** The window's mean over time, and its least and most. */
  readonly mean: number;
  readonly least: number;
  readonly most: number;
}

/** A number of the log-normal distribution, by its median. */
export function logNormal(random: Random, median: number, sigma: number): number {
  const [one, other] = [1 - random.next(), random.next()];
  return median * Math.exp(sigma * Math.sqrt(-2 * Math.log(one)) * Math.cos(2 * Math.PI * other));
}

export function deliver(receiver: Receiver, ceiling: number, seconds: number, seed: number, from = NEW_PACE): Seen {
  const random = createRandom(seed);
  let pace: Pace = from;
  let flying: { readonly endsAtMs: number; readonly ending: Ending }[] = [];
  let [attempts, bad, good, sum, least, most] = [0, 0, 0, 0, Infinity, 0];
  let inFlight = 0;
  for (let atMs = 0; atMs < seconds * 1_000; atMs += FLUSH_MS) {
    const ended = flying.filter(({ endsAtMs }) => endsAtMs <= atMs).map(({ ending }) => ending);
    flying = flying.filter(({ endsAtMs }) => endsAtMs > atMs);
    const well = ended.filter(({ says }) => says === 'good');
    const refused = ended.filter(({ says }) => says === 'bad').length;
    if (ended.length > 0) {
      const goodMs = well.reduce((total, { tookMs }) => total + tookMs, 0);
      const isSilent = ended.some(({ says }) => says === 'silence');
      pace = nextWindow(pace, ceiling, { inFlight, isSilent, good: well.length, bad: refused, goodMs });
    }
    while (flying.length < Math.floor(pace.window)) {
      const held = flying.filter(({ ending: { says } }) => says !== 'bad').length;
      const ending = receiver(held, random, atMs);
      flying.push({ ending, endsAtMs: atMs + ending.tookMs });
      attempts += 1;
    }
    inFlight = flying.length;
    [bad, good, sum] = [bad + refused, good + well.length, sum + pace.window];
    [least, most] = [Math.min(least, pace.window), Math.max(most, pace.window)];
  }
  const mean = sum / ((seconds * 1_000) / FLUSH_MS);
  return { attempts, bad, perSecond: good / seconds, mean, least, most };
}
