/**
 * Masks what tells of a worker in a text that anybody may have written: CPFs, however written, the value of a key that says a name
 * or a CPF, and the query strings of URLs. Only a reader with a grant sees them. Ids and loan numbers stay.
 *
 * Invariant: each character is looked at a bounded number of times, whatever the text. Fails closed: a phone number or an amount of
 * eleven digits is masked, too. The database makes the same passes (mask-in-sql.ts); a test compares the two. Alternative: regular
 * expressions here; an answer of 8 KiB stopped the event loop for 0.4 s.
 */
import { hasCpfIn } from './cpf.ts';
import { ADJACENT, AFTER_GROUP, type Gap, IN_A_ROW, mayBeDigit, nextDigit, ONE_BY_ONE, tokenAt } from './digits.ts';
import { keyEnd, mayBeKey, valueAt } from './keyed-values.ts';

export const MASK = '***********';
const CPF = 11;
/** Stands within ids, so that no digits are read across. */
const WALL = '\uE000';
/** Stands where a value begins. */
const MARK = '\uE001';
const withoutSigns = (text: string) => text.replaceAll(/[\uE000\uE001]/g, '');

/** `text` with everything that tells of a worker, and each query string, replaced by {@link MASK}. */
export function masked(text: string): string {
  const told = maskValues(markKeys(wallNumbers(wallUuids(maskQueries(withoutSigns(text))))));
  return withoutSigns([inARow, inGroups, oneByOne].reduce(maskDigits, told));
}

interface Change {
  readonly from: number;
  readonly end: number;
  readonly put: string;
}

/** `text` with the changes that `find` makes, from the left; it is asked at each `anchor` that no change covers. */
function changeAround(text: string, anchor: string, find: (at: number) => Change | null): string {
  let changed = '';
  let kept = 0;
  for (let at = text.indexOf(anchor); at !== -1; at = text.indexOf(anchor, Math.max(at + 1, kept))) {
    const found = find(at);
    if (found === null || found.from < kept) continue;
    changed += text.slice(kept, found.from) + found.put;
    kept = found.end;
  }
  return changed + text.slice(kept);
}

const isUrlEnd = (code: number) =>
  (code >= 1 && code <= 0x20) || code === 0x23 || code === 0x22 || code === 0x3c || code === 0x3e;

function maskQueries(text: string): string {
  return changeAround(text, ':', (colon) => {
    const from = [4, 5]
      .map((length) => colon - length)
      .find((at) => /^https?$/i.test(text.slice(Math.max(0, at), colon)));
    const slashes = /^(?:\\?\/){2}/.exec(text.slice(colon + 1, colon + 5))?.[0].length;
    if (from === undefined || slashes === undefined) return null;
    let query = colon + 1 + slashes;
    while (query < text.length && !isUrlEnd(text.charCodeAt(query)) && text[query] !== '?') query += 1;
    let end = query;
    while (end < text.length && !isUrlEnd(text.charCodeAt(end))) end += 1;
    const hasQuery = end > query + 1;
    return { from, end, put: hasQuery ? text.slice(from, query + 1) + MASK : text.slice(from, end) };
  });
}

const isAlphanumeric = (character: string | undefined) => /^[0-9A-Za-z]$/.test(character ?? '');
const isDigit = (character: string | undefined) => /^[0-9]$/.test(character ?? '');

const UUID =
  /^([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})-([0-9A-Fa-f]{4})-([1-8][0-9A-Fa-f]{3})-([89ABab][0-9A-Fa-f]{3})-([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})$/;

function wallUuids(text: string): string {
  return changeAround(text, '-', (dash) => {
    const [from, end] = [dash - 8, dash + 28];
    const parts = from < 0 || text[dash + 5] !== '-' ? null : UUID.exec(text.slice(from, end));
    if (parts === null || isAlphanumeric(text[from - 1]) || isAlphanumeric(text[end])) return null;
    const [first, second, third, fourth, fifth, ...last] = parts.slice(1);
    const head = `${WALL}${first}${WALL}${second}-${WALL}${third}-${WALL}${fourth}-${WALL}${fifth}-${WALL}`;
    return { from, end, put: head + (hasCpfIn(last.join('')) ? last.join('') : last.join(WALL) + WALL) };
  });
}

function wallNumbers(text: string): string {
  return changeAround(text, '-', (dash) => {
    const [from, end] = [dash - 4, dash + 9];
    const isNumber = from >= 0 && /^20[0-9]{2}-[0-9]{8}$/.test(text.slice(from, end));
    if (!isNumber || isDigit(text[from - 1]) || isDigit(text[end])) return null;
    return { from, end, put: `${WALL}${text.slice(from, dash + 1)}${WALL}${text.slice(dash + 1, end)}${WALL}` };
  });
}

/** Marks where a value begins: behind each key. */
function markKeys(text: string): string {
  let changed = '';
  let kept = 0;
  for (let at = 0; at < text.length; at += 1) {
    const end = mayBeKey(text.charCodeAt(at)) ? keyEnd(text, at) : -1;
    if (end === -1) continue;
    changed += text.slice(kept, end) + MARK;
    kept = end;
    at = end - 1;
  }
  return changed + text.slice(kept);
}

function maskValues(text: string): string {
  return changeAround(text, MARK, (at) => {
    const value = valueAt(text, at + 1);
    return value && { from: value.from, end: value.end, put: MASK };
  });
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

/** JSON, masked where it stands; ids and cursors stay. `key` is the value's own: one of a name or a CPF masks whatever it is. */
export function maskedValue(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return ONLY_UUID.test(value) || CURSOR.test(key) ? value : maskedText(value, key);
  if (Array.isArray(value)) return value.map((one) => maskedValue(one, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, maskedValue(one, name)]));
}

function maskedText(text: string, key: string): string {
  const told = masked(JSON.stringify({ [key]: masked(text) }));
  try {
    return (JSON.parse(told) as Record<string, string>)[key] ?? MASK;
  } catch {
    return MASK;
  }
}
