/**
 * How a digit and what may stand between two digits are written in texts of strangers: plain, percent-encoded, escaped as in JSON,
 * in any script. `mask.sql` gets the same tables (mask-in-sql.ts).
 *
 * Invariant: one character begins at most one token, of 1 to 6 characters. So this reader and PostgreSQL's have one way through a
 * text.
 */

/** The zeros of all scripts (Unicode's Nd), in hexadecimal; each begins ten digits. */
const ZEROS =
  '30 660 6f0 7c0 966 9e6 a66 ae6 b66 be6 c66 ce6 d66 de6 e50 ed0 f20 1040 1090 17e0 1810 1946 19d0 1a80 1a90 1b50 1bb0 1c40 1c50 ' +
  'a620 a8d0 a900 a9d0 a9f0 aa50 abf0 ff10 104a0 10d30 10d40 11066 110f0 11136 111d0 112f0 11450 114d0 11650 116c0 116d0 116da ' +
  '11730 118e0 11950 11bf0 11c50 11d50 11da0 11de0 11f50 16130 16a60 16ac0 16b50 16d70 1ccf0 1d7ce 1d7d8 1d7e2 1d7ec 1d7f6 1e140 ' +
  '1e2f0 1e4f0 1e5f1 1e950 1fbf0';
/** Raised, lowered, circled and bracketed digits: the first code point, its value, how many follow on each other. */
const ORNATE: readonly (readonly [first: number, value: number, count: number])[] = [
  [0xb2, 2, 2],
  [0xb9, 1, 1],
  [0x2070, 0, 1],
  [0x2074, 4, 6],
  [0x2080, 0, 10],
  [0x2460, 1, 9],
  [0x2474, 1, 9],
  [0x2488, 1, 9],
  [0x24ea, 0, 1],
  [0x24f5, 1, 9],
  [0x24ff, 0, 1],
  [0x2776, 1, 9],
  [0x2780, 1, 9],
  [0x278a, 1, 9],
  [0x1f100, 0, 1],
  [0x1f101, 0, 10],
];
/** Runs of digits: the first code point, its value, how many follow on each other. */
export const DIGIT_RUNS = [
  ...ZEROS.split(' ').map((zero) => [Number.parseInt(zero, 16), 0, 10] as const),
  ...ORNATE,
] as const;

/** Blanks and what nobody sees, as pairs of hexadecimal code points, first to last. */
export const BLANKS =
  '1-20 7f-a0 ad-ad 300-36f 61c-61c 115f-1160 1680-1680 180b-180f 2000-200f 2028-202f 205f-206f 20d0-20ff 2800-2800 3000-3000 ' +
  '3164-3164 fe00-fe0f feff-feff ffa0-ffa0 fff9-fffd';
/** All other characters that are no letter, digit, % or \: punctuation, dashes, signs. */
export const SIGNS =
  '21-24 26-2f 3a-40 5b-5b 5d-60 7b-7e a1-a9 ab-ac ae-b1 b4-b4 b6-b8 bb-bb d7-d7 f7-f7 387-387 589-58a 5be-5be 60c-60c 61b-61b ' +
  '61f-61f 66a-66d 6d4-6d4 964-965 2010-2027 2030-205e 20a0-20cf 2190-23ff 2500-2775 27c0-27ff 2900-2bff 2e00-2e7f 3001-3004 ' +
  '3008-3020 3030-3030 30fb-30fb fe10-fe1f fe30-fe6f ff01-ff0f ff1a-ff20 ff3b-ff40 ff5b-ff65 ffe0-ffee';

const BLANK = 11;
const SIGN = 12;
/** By UTF-16 code unit: 1 + a digit's value, {@link BLANK}, {@link SIGN}, or 0. */
const KINDS = new Uint8Array(0x1_00_00);
for (const [first, value, count] of DIGIT_RUNS)
  if (first < KINDS.length) for (let n = 0; n < count; n += 1) KINDS[first + n] = 1 + value + n;
for (const [ranges, kind] of [
  [BLANKS, BLANK],
  [SIGNS, SIGN],
] as const)
  for (const range of ranges.split(' ')) {
    const [first = 0, last = 0] = range.split('-').map((end) => Number.parseInt(end, 16));
    KINDS.fill(kind, first, last + 1);
  }

const PERCENT = 0x25;
const BACKSLASH = 0x5c;

function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** The number that `count` hexadecimal digits at `at` write, or -1. */
function hexAt(text: string, at: number, count: number): number {
  let value = 0;
  for (let n = 0; n < count; n += 1) {
    const digit = hexValue(text.charCodeAt(at + n));
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/** Whether a digit may begin with this code unit. */
export function mayBeDigit(code: number): boolean {
  const kind = KINDS[code] ?? 0;
  return (kind > 0 && kind < BLANK) || code === PERCENT || code === BACKSLASH || (code >= 0xd8_00 && code <= 0xdb_ff);
}

/** A token: what it stands for, and the index behind it. */
export interface Token {
  /** A digit's value; null: it stands between digits. */
  readonly digit: number | null;
  /** A blank, or an escape that is no digit. */
  readonly isBlank: boolean;
  readonly end: number;
}

const digitToken = (digit: number, end: number): Token => ({ digit, isBlank: false, end });
const between = (isBlank: boolean, end: number): Token => ({ digit: null, isBlank, end });

/** The token that begins at `at`; null: a letter, or the end of the text. */
export function tokenAt(text: string, at: number): Token | null {
  const code = text.charCodeAt(at);
  if (code === PERCENT) return percentAt(text, at);
  if (code === BACKSLASH) return backslashAt(text, at);
  const kind = KINDS[code] ?? 0;
  if (kind === 0) return code >= 0xd8_00 && code <= 0xdb_ff ? astralAt(text, at) : null;
  return kind > 10 ? between(kind === BLANK, at + 1) : digitToken(kind - 1, at + 1);
}

function astralAt(text: string, at: number): Token | null {
  const point = text.codePointAt(at) ?? 0;
  const run = DIGIT_RUNS.find(([first, , count]) => point >= first && point < first + count);
  return run === undefined ? null : digitToken(run[1] + point - run[0], at + 2);
}

/** `%35` is a digit, `%20` as a blank; a lone % stands between no digits. */
function percentAt(text: string, at: number): Token | null {
  const byte = hexAt(text, at + 1, 2);
  if (byte < 0) return null;
  return byte >= 0x30 && byte <= 0x39 ? digitToken(byte - 0x30, at + 3) : between(true, at + 3);
}

/** ASCII, Arabic-Indic, Persian and full-width digits as `\u0035`, other escapes as blanks, and a lone backslash as a sign. */
function backslashAt(text: string, at: number): Token {
  const letter = text.charAt(at + 1);
  const code = letter === 'u' ? hexAt(text, at + 2, 4) : -1;
  if (code >= 0) {
    const zero = [0x30, 0x6_60, 0x6_f0, 0xff_10].find((first) => code >= first && code < first + 10);
    return zero === undefined ? between(true, at + 6) : digitToken(code - zero, at + 6);
  }
  return letter !== '' && 'nrtbf'.includes(letter) ? between(true, at + 2) : between(false, at + 1);
}

/** How two digits may follow on each other. */
export interface Gap {
  readonly least: number;
  readonly most: number;
  readonly blanksOnly: boolean;
}
export const ADJACENT: Gap = { least: 0, most: 0, blanksOnly: true };
/** In a row, or with blanks among them. */
export const IN_A_ROW: Gap = { least: 0, most: 3, blanksOnly: true };
/** One by one. */
export const ONE_BY_ONE: Gap = { least: 1, most: 5, blanksOnly: false };
/** Between the groups of a CPF. */
export const AFTER_GROUP: Gap = { least: 0, most: 5, blanksOnly: false };

/** The next digit behind `at`, across a gap; null: there is none, or the gap is another. */
export function nextDigit(text: string, at: number, { least, most, blanksOnly }: Gap): Token | null {
  let end = at;
  for (let between = 0; between <= most; between += 1) {
    const token = tokenAt(text, end);
    if (token === null) return null;
    if (token.digit !== null) return between >= least ? token : null;
    if (blanksOnly && !token.isBlank) return null;
    ({ end } = token);
  }
  return null;
}
