/**
 * Masks CPFs in a text, however they are written, the query strings of URLs, and `nome_trabalhador`. Only a reader with a grant
 * sees them.
 *
 * The database has the same patterns in the same order (drizzle/functions/mask.sql), and a test compares the two. So the
 * patterns use only syntax that both dialects read alike. Each pass has one alternative at each position, so both match alike.
 * Fails closed: a phone number or an amount of eleven digits is masked too. Ids and loan numbers are not.
 */
export const MASK = '***********';

/** A digit: plain, full-width, or percent-encoded. */
const DIGIT = String.raw`(?:[0-9\uFF10-\uFF19]|%3[0-9])`;
const BLANKS = String.raw`\u0001-\u0020\u0085\u00A0\u00AD\u1680\u2000-\u200F\u2028-\u202F\u205F-\u2064\u3000\uFEFF\uFFFD`;
/** + , - . / _ and their relatives: dots, commas, dashes, slashes. */
const SIGNS = String.raw`+-/_\u00B7\u2010-\u2015\u2024\u2027\u2043\u2044\u2212\u2215\u2E3A\u2E3B\u3001\u3002\uFE58\uFE63\uFF0B-\uFF0F`;
/** The separators that may stand between two digits: plain, percent-encoded, or escaped as in JSON. */
const ESCAPED = String.raw`%(?:[0-24-9A-Fa-f][0-9A-Fa-f]|3[A-Fa-f])|\\u[0-9A-Fa-f]{4}|\\[nrt]`;
const BLANK = `(?:[${BLANKS}]|${ESCAPED})`;
const BETWEEN = `(?:[${BLANKS}${SIGNS}]|${ESCAPED})`;

/** Patterns in order, each with its replacement; $1 is written \1 in PostgreSQL. */
const PASSES: readonly (readonly [pattern: string, replacement: string])[] = [
  [String.raw`\uE000`, ''],
  [String.raw`([Hh][Tt][Tt][Pp][Ss]?:(?:\\?/){2}[^?#"<>\u0001-\u0020]*\?)[^#"<>\u0001-\u0020]+`, `$1${MASK}`],
  // The worker's name where a receiver gives back the field: as JSON, JSON in a text, or a form.
  [
    String.raw`(nome_trabalhador(?:\\?"|%22)?[\u0001-\u0020]*(?:[:=]|%3[AaDd])[\u0001-\u0020]*(?:\\?"|%22)?)(?:[^"\\&,;<%\u0001-\u001F]|%(?:20|C[0-9A-Fa-f]|[89ABab][0-9A-Fa-f]))+`,
    `$1${MASK}`,
  ],
  // Ids and loan numbers are split by a character that no digit pattern crosses; the last pass removes it.
  [
    String.raw`(?<![0-9A-Za-z])([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})-([0-9A-Fa-f]{4})-([1-8][0-9A-Fa-f]{3})-([89ABab][0-9A-Fa-f]{3})-([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})(?![0-9A-Za-z])`,
    '\uE000$1\uE000$2-\uE000$3-\uE000$4-\uE000$5-\uE000$6\uE000$7\uE000$8\uE000',
  ],
  [String.raw`(?<![0-9])(20[0-9]{2})-([0-9]{8})(?![0-9])`, '\uE000$1-\uE000$2\uE000'],
  // Eleven digits or more in a row or with blanks among them; in groups of three as in a CPF; one by one.
  [`${DIGIT}(?:${BLANK}{0,3}${DIGIT}){10,}`, MASK],
  [`${`${DIGIT}{3}${BETWEEN}{0,5}`.repeat(3)}${DIGIT}{2}${DIGIT}*`, MASK],
  [`${DIGIT}(?:${BETWEEN}{1,5}${DIGIT}){10,}`, MASK],
  [String.raw`\uE000`, ''],
];

const COMPILED = PASSES.map(([pattern, replacement]) => [new RegExp(pattern, 'g'), replacement] as const);

/** `text` with everything that looks like a CPF, and each query string, replaced by {@link MASK}. */
export function masked(text: string): string {
  return COMPILED.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);
}

/** The part of a CPF that a cut may have left at the end of a text: the longest run of digits and separators. */
export const CUT_SHORT = `${DIGIT}(?:${DIGIT}|${BETWEEN})*(?:%[0-9A-Fa-f]?|\\\\(?:u[0-9A-Fa-f]{0,3})?)?$`;
