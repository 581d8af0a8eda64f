/** `desde` and `ate` of a list: an instant (ISO 8601 with its offset) or a day of America/Sao_Paulo, both inclusive. */
import { z } from 'zod';
import { addDays, FIRST_DAY, LAST_DAY, startOfDay } from '../contract/calendar.ts';

const MESSAGE = 'deve ser uma data AAAA-MM-DD ou um instante ISO 8601 com fuso, como 2026-01-31T12:00:00Z';

/** One pattern, not a choice of two formats: generated clients make a class of a choice, which in Java does not compile. */
const DAY = z.regexes.date.source.slice(1, -1);
const INSTANT = z.regexes.datetime({ offset: true }).source.slice(1, -1);
const given = z
  .string({ error: MESSAGE })
  .regex(new RegExp(`^(?:${DAY}|${INSTANT})$`), MESSAGE)
  .meta({
    text: {
      pt: 'Um dia de São Paulo ou um instante com fuso; incluído no período',
      en: 'A day of São Paulo, or an instant with its offset; included in the period',
    },
    examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
  });

/** The first instant of the period. */
export const periodStart = given.transform((text) => (isDay(text) ? startOfDay(clamp(text)) : instantOf(text)));

/** The first instant after the period; instants are kept to the millisecond. */
export const periodEnd = given.transform((text) =>
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
