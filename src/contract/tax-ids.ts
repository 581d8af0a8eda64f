import { z } from 'zod';
import { hasCheckDigits, isCpf, isOneCharacterRepeated } from './masking/cpf.ts';

const CNPJ_FIRST = [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
const CNPJ_SECOND = [6, ...CNPJ_FIRST];

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
