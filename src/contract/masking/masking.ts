/**
 * Masks what tells of a worker in a text that anybody may have written: CPFs, however written, the value of a key that says a name
 * or a CPF, and the query strings of URLs. Only a reader with a grant sees them. Ids and loan numbers stay.
 *
 * Invariant: no expression fails after an unbounded run, so a text costs its length, here and in PostgreSQL, which makes the same
 * passes (mask-in-sql.ts); a test compares the two. Fails closed: a phone number or an amount of eleven digits is masked, too. Digits
 * are read by hand here: the regex check does not judge PostgreSQL's expressions for them in ten minutes.
 */
import { hasCpfIn } from './cpf.ts';
import { ADJACENT, AFTER_GROUP, type Gap, IN_A_ROW, mayBeDigit, nextDigit, ONE_BY_ONE, tokenAt } from './digits.ts';

export const MASK = '***********';
const CPF = 11;

/** What ends a value that stands in no quotes: another key behind a sign, an encoded quote or end of line. */
const VALUE_ENDS = `(?:[,;&]|%26|%2[Cc]|%3[Bb])[ +]{0,3}(?:["']|%22)?[A-Za-z_]{1,24}(?:["']|%22)? ?(?:[:=]|%3[AaDd])|%22|%0[AaDd]`;

/** U+E000 stands within ids, so that no digits are read across; U+E001 behind keys, where a value begins. */
const HELPERS = /[\uE000\uE001]/g;

export const EXPRESSIONS = {
  url: String.raw`([Hh][Tt][Tt][Pp][Ss]?:(?:\\?/){2}[^?#"<>\u0001-\u0020]*)(?:(\?)[^#"<>\u0001-\u0020]+)?`,
  /** `nome…` or `cpf…` in any case and style, then a sign. */
  key: String.raw`(?:[Nn][Oo][Mm][Ee]|[Cc][Pp][Ff])[A-Za-z_]{0,24}(?:\\{0,7}["']|%22|&[Qq][Uu][Oo][Tt];|\]|%5[Dd])?[\u0001-\u0020]{0,3}(?::|=>?|>|%3[AaDd])[\u0001-\u0020]{0,3}`,
  /** The value in quotes, as an escaped text, deeper, in other quotes, in a form, in HTML, in a list, or bare. Each captures its delimiter. */
  values: [
    String.raw`(\uE001")(?:[^"\\]|\\.)*`,
    String.raw`(\uE001\\")(?:[^"\\]|\\[^"\\]|\\\\(?:\\.|[^\\"]))*`,
    String.raw`(\uE001\\{2,7}")(?:[^"\\]|\\{1,7}[^"\\])*`,
    String.raw`(\uE001')(?:[^'\\]|\\.)*`,
    String.raw`(\uE001%22)(?:[^%"&\u0001-\u0020]|%(?!22))*`,
    String.raw`(\uE001&quot;)(?:[^&<"]|&(?!quot;))*`,
    String.raw`(\uE001[\[{])[^\]}]+(?:\][\u0001-\u0020]{0,4},[\u0001-\u0020]{0,4}\[[^\]}]+)*`,
    String.raw`(\uE001)(?!${VALUE_ENDS}|null[^A-Za-z])(?:[^"'\[{<}>\]\\&,;\u0001-\u0020]|\\[^"nr])(?:[^"<}\]\\&,;%\u0001-\u001F]|\\[^"nr]|(?!${VALUE_ENDS})[,;&%])*`,
  ],
} as const;

const URL_QUERY = new RegExp(EXPRESSIONS.url, 'gu');
const KEY = new RegExp(EXPRESSIONS.key, 'gu');
const VALUE = new RegExp(EXPRESSIONS.values.join('|'), 'gsu');
const UUID =
  /(?<![0-9A-Za-z])([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})-([0-9A-Fa-f]{4})-([1-8][0-9A-Fa-f]{3})-([89ABab][0-9A-Fa-f]{3})-([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})(?![0-9A-Za-z])/g;
const LOAN_NUMBER = /(?<![0-9])(20[0-9]{2}-)([0-9]{8})(?![0-9])/g;

/** `text` with everything that tells of a worker, and each query string, replaced by {@link MASK}. */
export function masked(text: string): string {
  const normalized = text
    .replaceAll(HELPERS, '')
    .replaceAll(URL_QUERY, (_, before: string, sign?: string) => (sign === undefined ? before : `${before}?${MASK}`))
    .replaceAll(UUID, fenced)
    .replaceAll(LOAN_NUMBER, '\uE000$1\uE000$2\uE000')
    .replaceAll(KEY, '$&\uE001')
    .replaceAll(VALUE, (_, ...groups) => `${groups.find((one) => typeof one === 'string')}${MASK}`);
  return [inARow, inGroups, oneByOne].reduce(maskDigits, normalized).replaceAll(HELPERS, '');
}

/** An id that no digits are read across, unless its last twelve hold a CPF. */
function fenced(_: string, ...groups: readonly string[]): string {
  const [first, second, third, fourth, fifth] = groups;
  const last = groups.slice(5, 8);
  const end = hasCpfIn(last.join('')) ? last.join('') : `${last.join('\uE000')}\uE000`;
  return `\uE000${first}\uE000${second}-\uE000${third}-\uE000${fourth}-\uE000${fifth}-\uE000${end}`;
}

/** `text` with the digits masked that `find` finds the end of, -1 where they are none. */
function maskDigits(text: string, find: (text: string, at: number) => number): string {
  let changed = '';
  let kept = 0;
  for (let at = 0; at < text.length; at += 1) {
    const end = mayBeDigit(text.charCodeAt(at)) ? find(text, at) : -1;
    if (end === -1) continue;
    changed += text.slice(kept, at) + MASK;
    kept = end;
    at = end - 1;
  }
  return changed + text.slice(kept);
}

function runEnd(text: string, at: number, gap: Gap): number {
  let count = 0;
  let end = at;
  for (let digit = nextDigit(text, at, ADJACENT); digit !== null; digit = nextDigit(text, end, gap)) {
    count += 1;
    ({ end } = digit);
  }
  return count >= CPF ? end : -1;
}

const inARow = (text: string, at: number) => runEnd(text, at, IN_A_ROW);
const oneByOne = (text: string, at: number) => runEnd(text, at, ONE_BY_ONE);

/** Three, three, three and two digits, and all that follow at once. */
function inGroups(text: string, at: number): number {
  let end = at;
  for (let count = 0; ; count += 1) {
    const digit = nextDigit(text, end, count > 0 && count < CPF && count % 3 === 0 ? AFTER_GROUP : ADJACENT);
    if (digit === null) return count >= CPF ? end : -1;
    ({ end } = digit);
  }
}

/** Characters that a CPF takes at most at the end of a text that was cut. */
const CUT = 400;

/** `text`, whose rest was cut off: what may be the beginning of a CPF, at its end, is masked. */
export function maskedEnd(text: string): string {
  let begin = -1;
  let gap = 0;
  for (let at = Math.max(0, text.length - CUT); at < text.length;) {
    const token = tokenAt(text, at);
    const isEscape = token === null && isCutEscape(text, at);
    gap = token?.digit === null || isEscape ? gap + 1 : 0;
    if ((token === null && !isEscape) || gap > AFTER_GROUP.most) begin = -1;
    else if (token !== null && token.digit !== null && begin === -1) begin = at;
    at = token?.end ?? at + 1;
  }
  return begin === -1 ? text : text.slice(0, begin) + MASK;
}

/** Whether the letter at `at` is of an escape that the cut split: `\u`, `\u00e`, `%c`. */
function isCutEscape(text: string, at: number): boolean {
  return /(?:%|\\u[0-9A-Fa-f]{0,3})[0-9A-Fa-f]?$/.test(text.slice(Math.max(0, at - 6), at + 1)) && text.length - at < 6;
}

const ONLY_UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const CURSOR = /cursor$|_depois$/;
/** Lists of header fields, whose `nome` is nobody's. */
const HEADER_FIELDS = /cabecalhos$/;

/** JSON, masked where it stands; ids and cursors stay. `key` is the value's own: one of a name or a CPF masks whatever it is. */
export function maskedValue(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return ONLY_UUID.test(value) || CURSOR.test(key) ? value : maskedText(value, key);
  if (Array.isArray(value)) return value.map((one) => maskedValue(one, key));
  if (typeof value !== 'object' || value === null) return value;
  const isField = HEADER_FIELDS.test(key);
  const keyOf = (name: string) => (isField && name === 'nome' ? '' : name);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, maskedValue(one, keyOf(name))]));
}

function maskedText(text: string, key: string): string {
  const normalized = masked(JSON.stringify({ [key]: masked(text) }));
  try {
    return (JSON.parse(normalized) as Record<string, string>)[key] ?? MASK;
  } catch {
    return MASK;
  }
}
