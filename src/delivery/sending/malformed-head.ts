/**
 * The head of an answer that the client's parser refuses. Pure.
 * The parser accepts less than receivers send: folded fields, a tab behind `Content-Length`, a blank before a colon, bare line feeds, a
 * repeated length (RFC 9110, 5.5 and 8.6; RFC 9112, 2.2 and 5). The connection is not used again, so only the outcome depends on the head:
 * where each line is a field, the status line counts.
 */
import type { AnswerHeaders } from './answer.ts';

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: |$)/;
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]{1,256}[ \t]{0,8}:/;
const LENGTH = /^\d{1,15}$/;

export interface BentHead {
  /** Of the final answer; null without a readable status line. */
  readonly statusCode: number | null;
  /** Null where the answer does not count. */
  readonly headers: AnswerHeaders | null;
  readonly body: Buffer;
}

const NOTHING: BentHead = { statusCode: null, headers: null, body: Buffer.alloc(0) };

/** The lines of the head that begins `text`, and where it ends; null while it is incomplete. */
function linesOf(text: string): { readonly lines: readonly string[]; readonly end: number } | null {
  const lines: string[] = [];
  for (let at = 0; ;) {
    const feed = text.indexOf('\n', at);
    if (feed < 0) return null;
    const line = text.slice(at, text[feed - 1] === '\r' && feed > at ? feed - 1 : feed);
    at = feed + 1;
    if (line === '') return { lines, end: at };
    lines.push(line);
  }
}

function fieldsOf(lines: readonly string[]): Record<string, string[]> | null {
  const fields: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  let values: string[] | null = null;
  for (const line of lines) {
    if (/^[ \t]/.test(line)) {
      if (values === null) return null;
      values.push(`${values.pop() ?? ''} ${line.trim()}`);
      continue;
    }
    if (!FIELD_NAME.test(line)) return null;
    const colon = line.indexOf(':');
    values = fields[line.slice(0, colon).trim().toLowerCase()] ??= [];
    values.push(line.slice(colon + 1).trim());
  }
  return fields;
}

function isLength(values: readonly string[]): boolean {
  const all = new Set(values.flatMap((value) => value.split(',')).map((value) => value.trim()));
  return all.size === 1 && [...all].every((value) => LENGTH.test(value));
}

/** Reads the head at the start of `bytes`, after interim answers. */
export function readBentHead(bytes: Buffer): BentHead {
  let text = bytes.toString('latin1');
  for (;;) {
    const status = STATUS_LINE.exec(text.slice(0, text.search(/[\r\n]|$/)));
    if (status === null) return NOTHING;
    const statusCode = Number(status[1]);
    const head = linesOf(text);
    if (statusCode < 200 && head === null) return NOTHING;
    if (statusCode >= 200) {
      const fields = head === null || statusCode > 599 ? null : fieldsOf(head.lines.slice(1));
      const isFramed = fields !== null && isLength(fields['content-length'] ?? ['0']);
      const body = Buffer.from(text.slice(head?.end ?? text.length), 'latin1');
      return { statusCode, headers: isFramed ? fields : null, body };
    }
    text = text.slice(head?.end);
  }
}
