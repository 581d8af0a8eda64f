/** The parameters that every list of a partner's shares: how many, and where to go on. */
import { z } from 'zod';
import { DEFAULT_PAGE, MAX_PAGE } from '../contract/delivery-resource.ts';
import type { ApiError } from './api-error.ts';
import { invalid } from './validation.ts';

const LIMIT = `deve ser um número inteiro de 1 a ${MAX_PAGE}`;

export const limite = z
  .string({ error: LIMIT })
  .regex(/^[1-9]\d{0,2}$/, LIMIT)
  .transform(Number)
  .refine((limit) => limit <= MAX_PAGE, LIMIT)
  .default(DEFAULT_PAGE)
  .meta({ type: 'integer', minimum: 1, maximum: MAX_PAGE, description: `Sem ele, ${DEFAULT_PAGE}` });

const CURSOR = 'deve ser o proximo_cursor de uma resposta anterior';

export const cursor = z
  .string({ error: CURSOR })
  .regex(/^[A-Za-z0-9_-]+$/, CURSOR)
  .optional()
  .meta({ description: 'O proximo_cursor de uma resposta anterior, com os mesmos filtros' });

/** 400 for a cursor that was not written for this list; `field` is the parameter that held it. */
export function badCursor(field = 'cursor'): ApiError {
  return invalid([{ campo: field, mensagem: 'deve ser o proximo_cursor de uma resposta desta lista' }]);
}
