/**
 * The kept part of a receiver's answer: one text of its header fields, a line each, an empty line, and the beginning of its
 * body (drizzle/functions, `answer_head`, `answer_body`). Pure.
 *
 * It is one text because it is sealed as one hash and forgotten as one. It is text because a receiver decides its bytes: bytes
 * that are not UTF-8 become replacement signs before they are stored, so no reader has to judge them again.
 * Fields that belong to the connection (RFC 9110, 7.6.1) are left out, and the values of fields that may bear a credential; of a
 * challenge the scheme stays, which tells the partner what his gateway demands.
 */
import { MASK, maskedEnd } from '../../contract/masking/masking.ts';

/** Names in lower case, each with its value or values. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Of the header fields; what does not fit is left out. */
const MAX_HEAD_CHARS = 4_096;
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding']);
const CREDENTIAL = /cookie|auth|token|secret|password|api-?key|signature/;

const CHALLENGE = /^(?:www|proxy)-authenticate$/;
const SCHEMES = /^(?:basic|bearer|digest|negotiate|ntlm)(?= |$)/i;

function shownValue(name: string, value: string): string {
  if (!CREDENTIAL.test(name)) return value;
  const [scheme] = (CHALLENGE.test(name) && SCHEMES.exec(value)) || [];
  return scheme === undefined ? MASK : `${scheme} ${MASK}`;
}

/** PostgreSQL's texts have none. */
const withoutNul = (text: string, instead: string) => (text.includes('\0') ? text.replaceAll('\0', instead) : text);

function head(headers: AnswerHeaders): string {
  let text = '';
  for (const name of Object.keys(headers)) {
    if (OF_THE_CONNECTION.has(name)) continue;
    const values = headers[name] ?? [];
    for (const value of typeof values === 'string' ? [values] : values) {
      const line = `${name}: ${shownValue(name, value)}\n`;
      if (text.length + line.length > MAX_HEAD_CHARS) return withoutNul(text, '');
      text += line;
    }
  }
  return withoutNul(text, '');
}

/**
 * The text that is kept, null when there is nothing. `isCut`: the body goes on behind `bytes`, so a number at their end may be the
 * beginning of a CPF, which nobody would recognise; it is masked.
 */
export function keptAnswer(headers: AnswerHeaders, bytes: Buffer, isCut: boolean): string | null {
  const fields = head(headers);
  if (fields === '' && bytes.length === 0) return null;
  const body = withoutNul(bytes.toString('utf8'), REPLACED);
  return `${fields}\n${isCut ? maskedEnd(withoutReplaced(body)) : body}`;
}

const REPLACED = '\uFFFD';

/** A character that the cut split is none. */
function withoutReplaced(body: string): string {
  let end = body.length;
  while (end > 0 && body[end - 1] === REPLACED) end -= 1;
  return body.slice(0, end);
}

/** The body's part of what {@link keptAnswer} gave. */
export function bodyOf(kept: string): string {
  if (kept.startsWith('\n')) return kept.slice(1);
  const end = kept.indexOf('\n\n');
  return end === -1 ? kept : kept.slice(end + 2);
}
