/**
 * The mask as PostgreSQL's regular expressions, for mask.sql: the tables of digits.ts, the forms of masking.ts.
 *
 * Invariant: no expression fails after an unbounded run, so a text costs PostgreSQL its length, too. U+E000 stands within ids and
 * U+E001 behind keys while the mask works: no digit pattern crosses them.
 */
import { BLANKS, DIGIT_RUNS, SIGNS } from './digits.ts';
import { EXPRESSIONS } from './masking.ts';

const unit = (point: number) =>
  point > 0xff_ff
    ? String.raw`\U${point.toString(16).padStart(8, '0')}`
    : String.raw`\u${point.toString(16).padStart(4, '0')}`;
const span = (first: number, last: number) => `${unit(first)}-${unit(last)}`;
const classOf = (ranges: string) =>
  ranges
    .split(' ')
    .map((range) => range.split('-').map((end) => Number.parseInt(end, 16)))
    .map(([first = 0, last = 0]) => span(first, last))
    .join('');

/** A digit, or one of the value `digit`. */
function digitPattern(digit: number | null = null): string {
  const runs = DIGIT_RUNS.flatMap(([first, value, count]) => {
    if (digit === null) return span(first, first + count - 1);
    return digit >= value && digit < value + count ? unit(first + digit - value) : [];
  });
  const last = digit === null ? '[0-9]' : String(digit);
  return String.raw`(?:[${runs.join('')}]|%3${last}|\\u(?:003|066|06[Ff]|[Ff]{2}1)${last})`;
}

const DIGITS = DIGIT_RUNS.map(([first, , count]) => span(first, first + count - 1)).join('');
const DIGIT = digitPattern();
const HEX = '[0-9A-Fa-f]';
const ESCAPED = String.raw`%(?:[0-24-9A-Fa-f]${HEX}|3[A-Fa-f])|\\u(?!(?:003|066|06[Ff]|[Ff]{2}1)[0-9])${HEX}{4}|\\[nrtbf]`;
const BLANK = `(?:[${classOf(BLANKS)}]|${ESCAPED})`;
const BETWEEN = String.raw`(?:[${classOf(BLANKS)}${classOf(SIGNS)}]|${ESCAPED}|\\(?!u${HEX}{4}|[nrtbf]))`;

/** As a text within quotes of SQL. */
const quoted = (expression: string) => expression.replaceAll("'", "''");

export const MASK_IN_SQL = {
  MASK_URL: EXPRESSIONS.url,
  MASK_KEY: quoted(EXPRESSIONS.key),
  MASK_HIDDEN: quoted(EXPRESSIONS.values.join('|')),
  MASK_VALUES: EXPRESSIONS.values.map((_, index) => `\\${index + 1}`).join(''),
  /** Eleven digits with no character between them that no digit pattern crosses. */
  MASK_DIGITS_AT_ALL: `(?:[${DIGITS}][^${DIGITS}g-mo-qsv-zG-Z\\uE000\\uE001]*){11}`,
  MASK_IN_A_ROW: `${DIGIT}(?:${BLANK}{0,3}${DIGIT}){10,}`,
  MASK_GROUPS: `${`${DIGIT}{3}${BETWEEN}{0,5}`.repeat(3)}${DIGIT}{2}${DIGIT}*`,
  MASK_ONE_BY_ONE: `${DIGIT}(?:${BETWEEN}{1,5}${DIGIT}){10,}`,
  /** Of `without_cpf.sql`: each digit as it may be written, and what stands between two. */
  DIGIT_PATTERNS: Array.from({ length: 10 }, (_, digit) => `'${digitPattern(digit)}'`).join(', '),
  BETWEEN_DIGITS: BETWEEN,
  ELEVEN_DIGITS: `${DIGIT}(?:${BETWEEN}{0,5}${DIGIT}){10}`,
} as const;
