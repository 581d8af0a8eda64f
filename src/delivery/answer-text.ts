/** A receiver's answer as a person may read it: text, with what looks like a CPF masked. Pure. */

const KEPT_BYTES = 1_024;
const MASK = '***********';

/** Eleven digits or more, with or without the separators of a CPF. */
const CPF_LIKE = /\d{3}[.\s-]?\d{3}[.\s-]?\d{3}[-/.\s]?\d{2}\d*/g;
/** What the cut after 1 KiB may have left of one: the longest end made of digits and separators. */
const CUT_SHORT = /\d[\d.\s/-]*$/;

/** The kept bytes of an answer as text; null when there were none. Bytes that are no UTF-8 become replacement signs. */
export function readableAnswer(answer: Buffer | null): string | null {
  if (answer === null) return null;
  const text = new TextDecoder('utf-8').decode(answer).replaceAll(CPF_LIKE, MASK);
  return answer.length < KEPT_BYTES ? text : text.replace(/�$/, '').replace(CUT_SHORT, MASK);
}
