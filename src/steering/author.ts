/** Who steers, and why: what every line of history keeps of an operator. */

export const MAX_LINE = 500;

/** `text` as history keeps it; null unless it is one line of 1 to {@link MAX_LINE} characters. */
export function readLine(text: string): string | null {
  const isLine = text.trim() !== '' && text.length <= MAX_LINE && text.isWellFormed() && !/\p{Cc}/u.test(text);
  return isLine ? text.trim() : null;
}

/** The name that history keeps. */
export function actorOf(name: string): string {
  return `operador:${name}`;
}
