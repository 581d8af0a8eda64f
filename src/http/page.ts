/** The parameters that lists share: how many, and where to go on. */
import { z } from 'zod';
import type { Bilingual } from '../contract/language.ts';
import { DEFAULT_PAGE, MAX_PAGE } from '../contract/resources/delivery-resource.ts';
import type { Result } from '../contract/refusals.ts';
import type { Cursors } from './cursor.ts';

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

/** The position that the parameter `field` holds; null without one. Refused when written for another list. */
export async function readCursor<S extends z.ZodType>(
  cursors: Cursors,
  list: string,
  schema: S,
  given: string | undefined,
  field = 'cursor',
): Promise<Result<z.output<S> | null, 'foreignCursor'>> {
  if (given === undefined) return { ok: null };
  const read = await cursors.read(list, schema, given);
  return read === null ? { refused: { kind: 'foreignCursor', field } } : { ok: read };
}
