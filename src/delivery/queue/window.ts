/**
 * A lane's window: how many of its deliveries may be in flight, 1 to `ceiling`. Pure.
 * It grows only while it is the limit: by 1 for each good answer up to `quickTo`, then by 1/16; beyond the first size only once 32 answers
 * are measured. Silence makes it 1. Answers that say nothing of load (500) reset it to the first size. Refusals subtract their number, at
 * least a quarter, once per burst. While the mean of the last 64 answers exceeds twice the best mean + 20 ms, each answer subtracts up to
 * 0.5. At window 1 nothing of ours queues at the receiver, so the mean there is the new best.
 * Measured alternatives: TCP's halving and +1 a round trip sends 15 % less; the least time instead of the best mean keeps the window at 1.
 */
import type { Answers } from './answers.ts';

export const FIRST_WINDOW = 8;
const MEASURED_OF = 32;
const REMEMBERED = 64;

export interface Pace {
  readonly window: number;
  /** Up to here it grows by one per good answer; null: up to the ceiling. */
  readonly quickTo: number | null;
  /** The number of answers, at most 64, that `answersMs` adds up. */
  readonly answers: number;
  readonly answersMs: number;
  readonly bestMs: number | null;
}

export interface Reported extends Answers {
  /** As counted by the last claim. */
  readonly inFlight: number;
}

export const NEW_PACE: Pace = { window: FIRST_WINDOW, quickTo: null, answers: 0, answersMs: 0, bestMs: null };

export function nextWindow(pace: Pace, ceiling: number, reported: Reported): Pace {
  const size = Math.max(Math.min(pace.window, ceiling), 1);
  const measured = measure(pace, size, reported);
  const moved = move({ ...measured, window: size }, ceiling, reported);
  return { ...measured, ...moved, window: Math.max(Math.min(moved.window, ceiling), 1) };
}

function measure(pace: Pace, size: number, { good, goodMs }: Reported): Pace {
  if (good === 0) return pace;
  const kept = Math.min(1, REMEMBERED / (pace.answers + good));
  const answers = (pace.answers + good) * kept;
  const answersMs = (pace.answersMs + Math.max(goodMs, good)) * kept;
  if (answers < MEASURED_OF) return { ...pace, answers, answersMs };
  const meanMs = answersMs / answers;
  const bestMs = size < 2 || pace.bestMs === null ? meanMs : Math.min(pace.bestMs, meanMs);
  return { ...pace, answers, answersMs, bestMs };
}

type Moved = Pick<Pace, 'window' | 'quickTo'>;

function move(pace: Pace, ceiling: number, { inFlight, isSilent, good, bad }: Reported): Moved {
  const { window: size, quickTo, answers, answersMs, bestMs } = pace;
  const isLimit = inFlight === Math.floor(size);
  if (isSilent) return { window: 1, quickTo: size > 1 ? Math.max(FIRST_WINDOW, size / 2) : quickTo };
  if (bad > 0) return inFlight > Math.floor(size) ? { window: size, quickTo } : fallen(size, inFlight, bad);
  if (good === 0) return { window: isLimit ? Math.max(size, Math.min(FIRST_WINDOW, size * 2)) : size, quickTo };
  const mostMs = bestMs === null ? Infinity : 2 * bestMs + 20;
  const meanMs = answersMs / answers;
  if (meanMs > mostMs) {
    const window = Math.max(size - good * Math.min(0.5, 1 - mostMs / meanMs), size / 2);
    return { window, quickTo: Math.max(window, 1) };
  }
  if (!isLimit) return { window: size, quickTo };
  const quick = Math.max(Math.min(good, (quickTo ?? ceiling) - size), 0);
  const top = bestMs === null ? Math.max(FIRST_WINDOW, size) : ceiling;
  return { window: Math.min(size + quick + (good - quick) / 16, top), quickTo };
}

function fallen(size: number, inFlight: number, bad: number): Moved {
  const used = Math.min(size, Math.max(inFlight, FIRST_WINDOW));
  const window = Math.min(used - bad, used * 0.75);
  return { window, quickTo: Math.max(window, 1) };
}
