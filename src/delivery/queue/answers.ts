/**
 * A webhook's answers in one flush, which move its lane's window (window.ts).
 * An answer is `good` unless its status reports overload (`bad`: 429, 502, 503, 504) or another 5xx, which only resets a small window to
 * its first size. `Retry-After` is not read: only contract/schedule.ts decides when a delivery is retried.
 */
import type { SendResult } from '../sending/send.ts';
import type { Report } from './report.ts';

export interface Answers {
  readonly isSilent: boolean;
  readonly good: number;
  readonly bad: number;
  /** The total time of the good ones. */
  readonly goodMs: number;
}

type AnswerKey = Pick<Report, 'webhookId' | 'partnerId'>;

const TOO_MUCH: ReadonlySet<number | null> = new Set([429, 502, 503, 504]);

export function gatherAnswers(
  reports: readonly (AnswerKey & { readonly result: SendResult })[],
): (AnswerKey & Answers)[] {
  const byWebhook = new Map<string, AnswerKey & Answers>();
  for (const { webhookId, partnerId, result } of reports) {
    const { isSilent, good, bad, goodMs } = byWebhook.get(webhookId) ?? { isSilent: false, good: 0, bad: 0, goodMs: 0 };
    const isGood = isWell(result);
    byWebhook.set(webhookId, {
      webhookId,
      partnerId,
      isSilent: isSilent || result.statusCode === null,
      good: good + Number(isGood),
      bad: bad + Number(TOO_MUCH.has(result.statusCode)),
      goodMs: isGood ? goodMs + result.durationMs : goodMs,
    });
  }
  return [...byWebhook.values()];
}

function isWell({ statusCode }: SendResult): boolean {
  return statusCode !== null && statusCode < 500 && !TOO_MUCH.has(statusCode);
}
