/**
 * Where a text says a worker's name or CPF under a key: `nome…` or `cpf…` in any case and style, then a sign, then the value in
 * quotes, as an escaped text, in a list, in a form, or bare. {@link VALUES} and {@link MASK_IN_SQL} have the same forms.
 *
 * Invariant: a value ends at its delimiter or with the text, so no look at a value is in vain; all other looks are bounded.
 */
/** Indices: behind the delimiter that opens the value, and behind the value. */
export interface Value {
  readonly from: number;
  readonly end: number;
}

const MAX_KEY = 24;
const MAX_BLANKS = 3;
const MAX_BACKSLASHES = 7;

const isLetter = (code: number) => (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f;
const isBlank = (code: number) => code >= 1 && code <= 0x20;

function skip(text: string, at: number, most: number, fits: (code: number) => boolean): number {
  let end = at;
  while (end < at + most && fits(text.charCodeAt(end))) end += 1;
  return end;
}

/** Behind the first of these texts that stands at `at`, in any case; else `at`. */
function pass(text: string, at: number, ...texts: readonly string[]): number {
  const found = texts.find((one) => text.slice(at, at + one.length).toLowerCase() === one);
  return at + (found?.length ?? 0);
}

/** The index behind the key at `at`, its sign and the blanks behind that; -1 where there is no key. */
export function keyEnd(text: string, at: number): number {
  const word = pass(text, at, 'nome', 'cpf');
  if (word === at) return -1;
  const key = skip(text, word, MAX_KEY, isLetter);
  const quote = skip(text, key, MAX_BACKSLASHES, (code) => code === 0x5c);
  const isQuoted = text[quote] === '"' || text[quote] === "'";
  const closed = isQuoted ? quote + 1 : pass(text, key, '%22', '&quot;', ']', '%5d');
  const blanks = skip(text, closed, MAX_BLANKS, isBlank);
  const sign = pass(text, blanks, ':', '=>', '=', '>', '%3a', '%3d');
  return sign === blanks ? -1 : skip(text, sign, MAX_BLANKS, isBlank);
}

/** The value that begins at `at`; null where none does. */
export function valueAt(text: string, at: number): Value | null {
  const first = text[at];
  if (first === '"') return { from: at + 1, end: quotedEnd(text, at + 1, '"') };
  if (first === "'") return { from: at + 1, end: quotedEnd(text, at + 1, "'") };
  const slashes = skip(text, at, MAX_BACKSLASHES, (code) => code === 0x5c);
  if (slashes > at && text[slashes] === '"') {
    const from = slashes + 1;
    return { from, end: slashes === at + 1 ? escapedEnd(text, from) : deeperEnd(text, from) };
  }
  if (text.startsWith('%22', at)) return { from: at + 3, end: stopAt(text, at + 3, '"&', '%22') };
  if (text.startsWith('&quot;', at)) return { from: at + 6, end: stopAt(text, at + 6, '<"', '&quot;') };
  if (first === '[' || first === '{') return listFrom(text, at + 1);
  return bareFrom(text, at);
}

/** Where the quote closes that was opened before `at`; a backslash takes the next character with it. */
function quotedEnd(text: string, at: number, quote: string): number {
  for (let end = at; end < text.length; end += 1) {
    if (text[end] === quote) return end;
    if (text[end] !== '\\') continue;
    if (end + 1 === text.length) return end;
    end += isPair(text, end + 1) ? 2 : 1;
  }
  return text.length;
}

const isPair = (text: string, at: number) => (text.codePointAt(at) ?? 0) > 0xff_ff;

/** Where a text closes that stands in a JSON text: at `\"`, or where that one closes. */
function escapedEnd(text: string, at: number): number {
  for (let end = at; end < text.length;) {
    const next = end + 1;
    if (text[end] === '"') return end;
    if (text[end] !== '\\') end += 1;
    else if (next === text.length || text[next] === '"') return end;
    else if (text[next] !== '\\') end = next + (isPair(text, next) ? 2 : 1);
    else if (end + 2 === text.length || text[end + 2] === '"') return end;
    else if (text[end + 2] !== '\\') end += 2 + (isPair(text, end + 2) ? 2 : 1);
    else if (end + 3 === text.length) return end;
    else end += 3 + (isPair(text, end + 3) ? 2 : 1);
  }
  return text.length;
}

/** The same of a text that stands deeper: at the first quote, before its backslashes. */
function deeperEnd(text: string, at: number): number {
  for (let end = at; end < text.length; end += 1) {
    if (text[end] === '"') return end;
    if (text[end] !== '\\') continue;
    const behind = skip(text, end, MAX_BACKSLASHES, (code) => code === 0x5c);
    if (behind === text.length || text[behind] === '"' || text[behind] === '\\') return end;
    end = behind - (isPair(text, behind) ? -1 : 0);
  }
  return text.length;
}

/** The index of the first of these characters, of `word`, or, where a character is `&`, of a blank; else the text's end. */
function stopAt(text: string, at: number, characters: string, word: string): number {
  for (let end = at; end < text.length; end += 1) {
    const isStop = characters.includes(text.charAt(end)) || (characters.includes('&') && isBlank(text.charCodeAt(end)));
    if (isStop || (text[end] === word[0] && text.startsWith(word, end))) return end;
  }
  return text.length;
}

/** To the bracket that closes, and on where another list follows. */
function listFrom(text: string, at: number): Value | null {
  const close = (from: number) => {
    let end = from;
    while (end < text.length && text[end] !== ']' && text[end] !== '}') end += 1;
    return end;
  };
  let end = close(at);
  if (end === at) return null;
  for (;;) {
    if (text[end] !== ']') return { from: at, end };
    const comma = skip(text, end + 1, 4, isBlank);
    const open = text[comma] === ',' ? skip(text, comma + 1, 4, isBlank) : -1;
    if (text[open] !== '[' || close(open + 1) === open + 1) return { from: at, end };
    end = close(open + 1);
  }
}

const NO_START = '"\'[{<}>]&,;';
const STOPS = '"<}]';

function bareFrom(text: string, at: number): Value | null {
  const isNull = text.startsWith('null', at) && at + 4 < text.length && !/[A-Za-z]/.test(text.charAt(at + 4));
  if (at >= text.length || NO_START.includes(text.charAt(at)) || isBlank(text.charCodeAt(at)) || isNull) return null;
  const end = bareEnd(text, at);
  return end === at ? null : { from: at, end };
}

function bareEnd(text: string, at: number): number {
  for (let end = at; end < text.length; end += 1) {
    const character = text.charAt(end);
    const code = text.charCodeAt(end);
    if (STOPS.includes(character) || (code >= 1 && code < 0x20)) return end;
    if (character === '\\') {
      if (end + 1 === text.length || '"nr'.includes(text.charAt(end + 1))) return end;
      end += isPair(text, end + 1) ? 2 : 1;
    } else if (',;&%'.includes(character) && endsBare(text, end)) return end;
  }
  return text.length;
}

/** Whether another key begins behind the sign at `at`, or the sign is an encoded quote or end of line. */
function endsBare(text: string, at: number): boolean {
  if (pass(text, at, '%22', '%0a', '%0d') > at) return true;
  const sign = pass(text, at, ',', ';', '&', '%26', '%2c', '%3b');
  if (sign === at) return false;
  const blanks = skip(text, sign, 3, (code) => code === 0x20 || code === 0x2b);
  const open = pass(text, blanks, '"', "'", '%22');
  const word = skip(text, open, MAX_KEY, isLetter);
  if (word === open) return false;
  const closed = pass(text, word, '"', "'", '%22');
  const blank = pass(text, closed, ' ');
  return pass(text, blank, ':', '=', '%3a', '%3d') > blank;
}

/** Whether a key may begin with this character. */
export const mayBeKey = (code: number): boolean => (code | 0x20) === 0x6e || (code | 0x20) === 0x63;
