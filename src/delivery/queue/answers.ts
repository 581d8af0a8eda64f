/**
 * A webhook's answers in one flush, as its lane is told: by them the lane's window moves (window.ts).
 *
 * An answer came well (`good`) unless its status says that it is too much for the receiver (`bad`: 429, 503, and 502 and 504,
 * which a gateway says in the same case) or that it failed for a reason of its own (any other 5xx), which only
 * brings a small window back to its first size. `Retry-After` is not read: contract/schedule.ts alone says when a delivery is tried again.
 */
import type { SendResult } from '../sending/send.ts';
import type { Report } from './report.ts';

export interface Answers {
  /** True when an attempt was left without an answer. */
  readonly isSilent: boolean;
  readonly good: number;
  readonly bad: number;
  /** How long the good ones took, all together. */
  readonly goodMs: number;
}

type Told = Pick<Report, 'webhookId' | 'partnerId'>;

const TOO_MUCH: ReadonlySet<number | null> = new Set([429, 502, 503, 504]);

/** The answers of these reports, by webhook. */
export function gatherAnswers(reports: readonly (Told & { readonly result: SendResult })[]): (Told & Answers)[] {
  const told = new Map<string, Told & Answers>();
  for (const { webhookId, partnerId, result } of reports) {
    const { isSilent, good, bad, goodMs } = told.get(webhookId) ?? { isSilent: false, good: 0, bad: 0, goodMs: 0 };
    const isGood = isWell(result);
    told.set(webhookId, {
      webhookId,
      partnerId,
      isSilent: isSilent || result.statusCode === null,
      good: good + Number(isGood),
      bad: bad + Number(TOO_MUCH.has(result.statusCode)),
      goodMs: isGood ? goodMs + result.durationMs : goodMs,
    });
  }
  return [...told.values()];
}

function isWell({ statusCode }: SendResult): boolean {
  return statusCode !== null && statusCode < 500 && !TOO_MUCH.has(statusCode);
}
