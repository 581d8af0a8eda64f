/**
 * A receiver's answer as text. Pure. The auditors' views read it alike (drizzle/, `answer_text`, `masked_answer`), except
 * that they leave out the bytes that are no text.
 */
import { CUT_SHORT, MASK, masked } from '../../contract/masking.ts';

const KEPT_BYTES = 1_024;
const CUT = new RegExp(CUT_SHORT);

/** The kept bytes of an answer as text; null when there were none. Bytes that are no text become replacement signs. */
export function answerText(answer: Buffer | null): string | null {
  return answer === null ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(answer).replaceAll('\0', '�');
}

/** {@link answerText} with what looks like a CPF masked, also what the cut after 1 KiB has left of one. */
export function readableAnswer(answer: Buffer | null): string | null {
  const text = answerText(answer);
  if (text === null || answer === null) return null;
  return answer.length < KEPT_BYTES ? masked(text) : masked(text).replace(/�$/, '').replace(CUT, MASK);
}
