/** CPFs in texts: which eleven digits are one, and where one stands, however it is written. */
import { ADJACENT, AFTER_GROUP, type Gap, IN_A_ROW, nextDigit, ONE_BY_ONE, tokenAt } from './digits.ts';

const LENGTH = 11;
const FIRST = [10, 9, 8, 7, 6, 5, 4, 3, 2];
const SECOND = [11, ...FIRST];

/** Modulo-11 check digit over character values (`'0'` is 0, `'A'` is 17) and weights. */
function checkDigit(characters: string, weights: readonly number[]): number {
  let sum = 0;
  for (const [index, weight] of weights.entries()) sum += (characters.charCodeAt(index) - 48) * weight;
  const rest = sum % 11;
  return rest < 2 ? 0 : 11 - rest;
}

export function hasCheckDigits(value: string, first: readonly number[], second: readonly number[]): boolean {
  return checkDigit(value, first) === Number(value.at(-2)) && checkDigit(value, second) === Number(value.at(-1));
}

export function isOneCharacterRepeated(value: string): boolean {
  return value === value.charAt(0).repeat(value.length);
}

/** True for 11 digits with valid check digits, not all the same digit. */
export function isCpf(value: string): boolean {
  return /^\d{11}$/.test(value) && !isOneCharacterRepeated(value) && hasCheckDigits(value, FIRST, SECOND);
}

/** Whether a CPF stands in the twelve characters that end a UUID. */
export function hasCpfIn(twelve: string): boolean {
  return isCpf(twelve.slice(1)) || isCpf(twelve.slice(0, -1));
}

interface FoundCpf {
  /** Its 11 digits. */
  readonly cpf: string;
  readonly end: number;
}

/** How the digit `count` of a CPF follows on the one before it, by the way it is written. */
const WAYS: readonly ((count: number) => Gap)[] = [
  () => ADJACENT,
  () => IN_A_ROW,
  (count) => (count > 0 && count % 3 === 0 ? AFTER_GROUP : ADJACENT),
  (count) => (count === 0 ? ADJACENT : ONE_BY_ONE),
];

/** The CPF that begins at `at`, with no digit at either side; null where none does. */
function cpfAt(text: string, at: number): FoundCpf | null {
  if (typeof tokenAt(text, at)?.digit !== 'number') return null;
  for (const way of WAYS) {
    let cpf = '';
    let end = at;
    while (cpf.length < LENGTH) {
      const token = nextDigit(text, end, cpf === '' ? ADJACENT : way(cpf.length));
      if (token === null) break;
      cpf += String(token.digit);
      ({ end } = token);
    }
    if (isCpf(cpf) && nextDigit(text, end, ADJACENT) === null) return { cpf, end };
  }
  return null;
}

/** Every CPF in a text, with no digit at either side. */
export function findCpfs(text: string): readonly (FoundCpf & { readonly from: number })[] {
  const found: (FoundCpf & { readonly from: number })[] = [];
  let isBehindDigit = false;
  for (let at = 0; at < text.length;) {
    const one: FoundCpf | null = isBehindDigit ? null : cpfAt(text, at);
    if (one !== null) found.push({ ...one, from: at });
    const token = tokenAt(text, at);
    isBehindDigit = one !== null || typeof token?.digit === 'number';
    at = one?.end ?? token?.end ?? at + 1;
  }
  return found;
}

export function cpfsIn(text: string): ReadonlySet<string> {
  return new Set(findCpfs(text).map(({ cpf }) => cpf));
}

/** Of texts that go into history, which is sealed: nobody could erase a CPF from it. */
export const hasNoCpf = (text: string): boolean => findCpfs(text).length === 0;
export const NO_CPF = 'não pode ter um CPF, porque fica no histórico';
