import { z } from 'zod';

const guid = z.guid('deve ser um UUID');
const UUIDS = { examples: ['019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b'] };

/** Any id on the wire: a UUID of any version (7 where the service makes it). Read in lower case, as the log and the database write it. */
export const id = guid.toLowerCase().meta(UUIDS);

/** An {@link id} of a file that is evidence: it is read as it stands, so that one in capitals is another. */
export const provedId = guid.meta(UUIDS);

/** ISO 8601, UTC, milliseconds, `Z`: `2026-01-31T12:00:00.000Z`. */
export const timestamp = z.iso.datetime({ precision: 3 }).meta({ examples: ['2026-01-31T12:00:00.000Z'] });

const DATE = 'deve ser uma data AAAA-MM-DD';
/** A day from the year 1 on: the database has no year 0. */
export const date = z.iso
  .date(DATE)
  .refine((day) => !day.startsWith('0000'), DATE)
  .meta({ examples: ['2026-01-31'] });

export const MONTH = /^[2-9]\d{3}-(0[1-9]|1[0-2])$/;

/** A month from 2000 on, `YYYY-MM`. */
export const month = z
  .string()
  .regex(MONTH, 'deve ser um mês AAAA-MM, de 2000 em diante')
  .meta({ examples: ['2026-01'] });

const CONTROL = String.raw`\x00-\x1F\x7F-\x9F`;

/** A name or description: 1 to `max` characters (code points, as JSON Schema counts), not only blanks, no control characters, well-formed. */
export function text(max: number) {
  const isLongest = (value: string) =>
    value.length <= max || (value.length <= 2 * max && Array.from(value).length <= max);
  return z
    .string()
    .refine(isLongest, `tem no máximo ${max} caracteres`)
    .refine((value) => value.trim() !== '', 'não pode ser vazio')
    .refine((value) => !/\p{Cc}/u.test(value), 'não pode ter caracteres de controle')
    .refine((value) => value.isWellFormed(), 'não pode ter metade de um par substituto')
    .meta({
      minLength: 1,
      maxLength: max,
      pattern: `^[^${CONTROL}]*[^\\s\\uFEFF${CONTROL}][^${CONTROL}]*$`,
    });
}

export const MAX_INSTALLMENTS = 96;

const MAX_REAIS = 9_999_999_999.99;
const MAX_AMOUNT = 9_999_999_999_999.99;
const TOO_PRECISE = 'tem no máximo duas casas decimais';

/** Reais with at most two decimals; more are refused, never rounded. Inside: integer centavos, {@link toCentavos}. */
export const reais = reaisBetween(0, MAX_REAIS);

/** {@link reais} that may be below zero: a margin is negative when more of it was pledged than is allowed. */
export const signedReais = reaisBetween(-MAX_REAIS, MAX_REAIS);

/** What an event tells, which may be a sum of many {@link reais}: below 10^13, so that an IEEE double carries it unchanged. */
export const amount = reaisBetween(0, MAX_AMOUNT);

/** {@link amount} that may be below zero. */
export const signedAmount = reaisBetween(-MAX_AMOUNT, MAX_AMOUNT);

function reaisBetween(least: number, most: number) {
  const pt = 'Reais, com no máximo duas casas decimais';
  const en = 'Reais, with two decimals at most';
  return z
    .number()
    .min(least, least === 0 ? 'não pode ser negativo' : 'valor baixo demais')
    .max(most, 'valor alto demais')
    .refine((value) => /^-?\d+(\.\d{1,2})?$/.test(String(value)), TOO_PRECISE)
    .meta({
      multipleOf: 0.01,
      text: least === 0 ? { pt, en } : { pt: `${pt}; pode ser negativo`, en: `${en}; may be negative` },
      examples: [1234.5],
    });
}

/** {@link reais}, greater than zero. */
export const positiveReais = reais
  .refine((value) => value > 0, 'deve ser maior que zero')
  .meta({ exclusiveMinimum: 0, multipleOf: 0.01 });

/** Reais on the wire → integer centavos. Exact for every number that {@link signedReais} accepts. */
export function toCentavos(value: number): number {
  return Math.round(value * 100);
}

/** Integer centavos → reais on the wire. */
export function toReais(centavos: number): number {
  return centavos / 100;
}

/** A named object, which takes no other field: a component of the description, and so a class in a generated client. */
export function component<S extends z.ZodRawShape>(id: string, shape: S) {
  return z.strictObject(shape).meta({ id });
}

/** The same of an object in whose answers further fields are ignored. */
export function openComponent<S extends z.ZodRawShape>(id: string, shape: S) {
  return z.object(shape).meta({ id });
}

/** `schema`, with the example that the description shows. */
export function shown<S extends z.ZodType>(schema: S, example: z.input<S>): S {
  return schema.meta({ examples: [example] });
}
