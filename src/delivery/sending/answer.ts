/**
 * The kept part of a receiver's answer: one text of header lines, an empty line and the beginning of the body (`answer_head` and
 * `answer_body` in the database). Pure.
 * It is one text because it is sealed as one hash and erased as one. The receiver decides its bytes: bytes that are not UTF-8 become
 * replacement characters before they are stored.
 * Connection fields (RFC 9110, 7.6.1) and values of fields that may carry a credential are left out; of a challenge the scheme stays, which
 * tells partners what their gateway demands.
 */
import { MASK, maskedEnd } from '../../contract/masking/masking.ts';

/** By lower-case name. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Header fields beyond this are left out. */
const MAX_HEAD_CHARS = 4_096;
/** More than a head, a body of 8 KiB and a mask. */
const MAX_KEPT_CHARS = 12_500;
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding']);
const CREDENTIAL = /cookie|auth|token|secret|password|api-?key|signature/;

const CHALLENGE = /^(?:www|proxy)-authenticate$/;
const SCHEMES = /^(?:basic|bearer|digest|negotiate|ntlm)(?= |$)/i;

function shownValue(name: string, value: string): string {
  if (!CREDENTIAL.test(name)) return value;
  const [scheme] = (CHALLENGE.test(name) && SCHEMES.exec(value)) || [];
  return scheme === undefined ? MASK : `${scheme} ${MASK}`;
}

/** PostgreSQL's texts cannot hold NUL. */
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
 * The kept text; null when there is none. `isCut`: the body goes on behind `bytes`. A number at a cut end is masked, because it may be the
 * beginning of a CPF.
 */
export function keptAnswer(headers: AnswerHeaders, bytes: Buffer, isCut: boolean): string | null {
  const fields = head(headers);
  if (fields === '' && bytes.length === 0) return null;
  const body = withoutNul(bytes.toString('utf8'), REPLACED);
  return `${fields}\n${isCut ? maskedEnd(withoutReplaced(body)) : body}`;
}

const REPLACED = '\uFFFD';

/** Drops the replacement character of a character that the cut split. */
function withoutReplaced(body: string): string {
  let end = body.length;
  while (end > 0 && body[end - 1] === REPLACED) end -= 1;
  return body.slice(0, end);
}

/** A short secret's mask is longer than it is, so a text full of them outgrows its row (is_sound_attempt.sql): it is cut. */
export function cutKept(kept: string): string {
  return kept.length <= MAX_KEPT_CHARS ? kept : maskedEnd(kept.slice(0, MAX_KEPT_CHARS));
}

/** The body's part of {@link keptAnswer}'s result. */
export function bodyOf(kept: string): string {
  if (kept.startsWith('\n')) return kept.slice(1);
  const end = kept.indexOf('\n\n');
  return end === -1 ? kept : kept.slice(end + 2);
}
