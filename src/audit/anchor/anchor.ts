/** An anchor is a place outside that keeps a checkpoint, so that a log made anew is detected. */
import { readBounded } from '../../bounded-answer.ts';
import type { AnchorKind } from '../../contract/statuses.ts';

interface Anchored {
  /** Seals. */
  readonly size: number;
  readonly note: string;
}

export interface Anchor {
  readonly kind: AnchorKind;
  /** Where it keeps them, without a secret: a URL, a directory, a witness's name. */
  readonly place: string;
  /**
   * Puts the checkpoint there and returns the receipt: a time stamp's response in DER, a witness's cosignature, or else where the
   * copy lies. Rejects with a sentence. `prove` gives the path from the log's head of `old` seals to this one.
   */
  put(checkpoint: Anchored, prove: (old: number) => Promise<readonly Buffer[]>): Promise<Buffer>;
}

const ANSWER_MS = 30_000;
const MAX_ANSWER = 256 * 1_024;

/** One request to a place; a redirect is not followed, and a long answer is cut. Rejects with a sentence. */
export async function ask(
  url: string,
  init: RequestInit,
  send: (url: string, init: RequestInit) => Promise<Response> = fetch,
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: Buffer }> {
  try {
    const answer = await send(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) });
    return { status: answer.status, headers: answer.headers, body: await readBounded(answer, MAX_ANSWER) };
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Error(`it does not answer: ${cause instanceof Error ? cause.message : message}`, { cause: error });
  }
}

/** The beginning of somebody else's text, for a sentence. */
export function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 200);
}

export function said(body: Buffer): string {
  const text = oneLine(body.toString('utf8'));
  return text === '' ? '' : `: ${text}`;
}
