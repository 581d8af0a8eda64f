/** The parameters that lists share: page size, cursor and period. */
import { z } from 'zod';
import { addDays, FIRST_DAY, LAST_DAY, startOfDay } from '../contract/calendar.ts';
import type { Bilingual } from '../contract/language.ts';
import { DEFAULT_PAGE, MAX_PAGE } from '../contract/resources/delivery-resource.ts';

/** A whole number from 1 to `most`, of three digits at the most. */
export function limitOf(most: number, usual: number) {
  const rule = `deve ser um número inteiro de 1 a ${most}`;
  return z
    .string({ error: rule })
    .regex(/^[1-9]\d{0,2}$/, rule)
    .transform(Number)
    .refine((limit) => limit <= most, rule)
    .default(usual)
    .meta({
      type: 'integer',
      minimum: 1,
      maximum: most,
      text: { pt: `Sem ele, ${usual}`, en: `Without it, ${usual}` },
    });
}

export const limite = limitOf(MAX_PAGE, DEFAULT_PAGE);

export const PAGE_ANSWER: Bilingual = {
  pt: 'Uma página, e o cursor da próxima',
  en: 'A page, and the cursor of the next',
};

const CURSOR = 'deve ser o proximo_cursor de uma resposta anterior';

export const cursor = z
  .string({ error: CURSOR })
  .regex(/^[A-Za-z0-9_-]+$/, CURSOR)
  .optional()
  .meta({
    text: {
      pt: 'O proximo_cursor de uma resposta anterior, com os mesmos filtros',
      en: 'The proximo_cursor of an earlier answer, with the same filters',
    },
  });

const MOMENT = 'deve ser uma data AAAA-MM-DD ou um instante ISO 8601 com fuso, como 2026-01-31T12:00:00Z';

/** One pattern, not a choice of two formats: generated clients make a class of a choice, which in Java does not compile. */
const DAY = z.regexes.date.source.slice(1, -1);
const INSTANT = z.regexes.datetime({ offset: true }).source.slice(1, -1);
/** An instant (ISO 8601 with its offset) or a day of America/Sao_Paulo. */
const moment = z
  .string({ error: MOMENT })
  .regex(new RegExp(`^(?:${DAY}|${INSTANT})$`), MOMENT)
  .meta({
    text: {
      pt: 'Um dia de São Paulo ou um instante com fuso; incluído no período',
      en: 'A day of São Paulo, or an instant with its offset; included in the period',
    },
    examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
  });

/** The first instant of the period. */
export const periodStart = moment.transform((text) => (isDay(text) ? startOfDay(clamp(text)) : instantOf(text)));

/** The first instant after the period; instants are kept to the millisecond. */
export const periodEnd = moment.transform((text) =>
  isDay(text) ? startOfDay(addDays(clamp(text), 1)) : new Date(instantOf(text).getTime() + 1),
);

function isDay(text: string): boolean {
  return !text.includes('T');
}

/** Days farther away mean the same. */
function clamp(day: string): string {
  if (day < FIRST_DAY) return FIRST_DAY;
  return day > LAST_DAY ? LAST_DAY : day;
}

function instantOf(text: string): Date {
  if (text < FIRST_DAY) return new Date(FIRST_DAY);
  return new Date(text > LAST_DAY ? LAST_DAY : text);
}
