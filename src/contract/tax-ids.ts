import { z } from 'zod';

/** Modulo-11 check digit over character values (`'0'` is 0, `'A'` is 17) and weights. */
function checkDigit(characters: string, weights: readonly number[]): number {
  let sum = 0;
  for (const [index, weight] of weights.entries()) sum += (characters.charCodeAt(index) - 48) * weight;
  const rest = sum % 11;
  return rest < 2 ? 0 : 11 - rest;
}

const CPF_FIRST = [10, 9, 8, 7, 6, 5, 4, 3, 2];
const CPF_SECOND = [11, ...CPF_FIRST];
const CNPJ_FIRST = [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
const CNPJ_SECOND = [6, ...CNPJ_FIRST];

function hasCheckDigits(value: string, first: readonly number[], second: readonly number[]): boolean {
  return checkDigit(value, first) === Number(value.at(-2)) && checkDigit(value, second) === Number(value.at(-1));
}

function isOneCharacterRepeated(value: string): boolean {
  return value === value.charAt(0).repeat(value.length);
}

/** True for 11 digits with valid check digits, not all the same digit. */
export function isCpf(value: string): boolean {
  return /^\d{11}$/.test(value) && !isOneCharacterRepeated(value) && hasCheckDigits(value, CPF_FIRST, CPF_SECOND);
}

/** True for 14 characters with valid check digits; the first 12 may be letters (the alphanumeric CNPJ of 2026). */
function isCnpj(value: string): boolean {
  return (
    /^[0-9A-Z]{12}\d{2}$/.test(value) &&
    !isOneCharacterRepeated(value) &&
    hasCheckDigits(value, CNPJ_FIRST, CNPJ_SECOND)
  );
}

/** A worker's tax id: 11 digits, no punctuation, check digits verified. */
export const cpf = z
  .string()
  .refine(isCpf, 'CPF inválido: 11 dígitos sem pontuação, com dígitos verificadores corretos')
  .meta({
    format: 'cpf',
    pattern: '^[0-9]{11}$',
    text: { pt: 'CPF sem pontuação, com dígitos verificadores', en: 'CPF without punctuation, with its check digits' },
    examples: ['52998224725'],
  });

/** An employer's tax id: 14 characters, no punctuation, check digits verified. */
export const cnpj = z
  .string()
  .refine(isCnpj, 'CNPJ inválido: 14 caracteres sem pontuação, com dígitos verificadores corretos')
  .meta({
    format: 'cnpj',
    pattern: '^[0-9A-Z]{12}[0-9]{2}$',
    text: {
      pt: 'CNPJ sem pontuação, com dígitos verificadores',
      en: 'CNPJ without punctuation, with its check digits',
    },
    examples: ['11222333000181'],
  });

/** Eleven digits that stand alone, with or without the usual punctuation. PostgreSQL reads it alike. */
export const CPF_LIKE = '(?<![0-9A-Za-z])[0-9]{3}[.]?[0-9]{3}[.]?[0-9]{3}-?[0-9]{2}(?![0-9A-Za-z])';

/** Every CPF in a text, as its 11 digits. */
export function cpfsIn(text: string): ReadonlySet<string> {
  const found = [...text.matchAll(new RegExp(CPF_LIKE, 'g'))].map(([match]) => match.replaceAll(/[.-]/g, ''));
  return new Set(found.filter(isCpf));
}
