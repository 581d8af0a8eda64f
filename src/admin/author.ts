/** Who steers, and why: what every line of history keeps of an operator. */

import { MAX_LINE } from '../contract/resources/operator.ts';
import { cpfsIn } from '../contract/masking/cpf.ts';

const OPERATOR = 'operador:';

/**
 * `text` as history keeps it; null unless it is one line of 1 to {@link MAX_LINE} characters without a CPF: history is sealed, so a CPF
 * could not be erased.
 */
export function readLine(text: string): string | null {
  const isLine = text.trim() !== '' && text.length <= MAX_LINE && text.isWellFormed() && !/\p{Cc}/u.test(text);
  return isLine && cpfsIn(text).size === 0 ? text.trim() : null;
}

export function actorOf(name: string): string {
  return `${OPERATOR}${name}`;
}

export function isOperator(actor: string): boolean {
  return actor.startsWith(OPERATOR);
}
