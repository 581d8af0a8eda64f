/** Orders to forget a worker, as an operator gives and reads them. */
import { z } from 'zod';
import { cpf } from '../tax-ids.ts';
import { component, id, shown, timestamp } from '../values.ts';
import { act } from './operator.ts';

/** The number of a court's order, as courts write it. */
export const COURT_ORDER = /^[0-9][0-9./-]{0,38}[0-9]$/;

export const eraseWorker = act.extend({
  cpf,
  ordem_judicial: z
    .string()
    .regex(COURT_ORDER, 'deve ser o número da ordem: algarismos, pontos, traços e barras')
    .meta({
      text: {
        pt: 'O número de uma ordem judicial, contra a qual nem empréstimo aberto nem prazo legal valem',
        en: 'The number of a court’s order, which no open loan and no legal period stands against',
      },
      examples: ['0001234-56.2026.8.26.0100'],
    })
    .optional(),
});

const SITUATIONS = ['em_andamento', 'concluido'] as const;

export const erasure = component('Apagamento', {
  id,
  situacao: z.enum(SITUATIONS),
  eventos: z.int(),
  motivo: z.string(),
  ordem_judicial: shown(z.string(), '0001234-56.2026.8.26.0100').nullable(),
  autor: z.string(),
  pedido_em: timestamp,
  concluido_em: timestamp.nullable(),
});
export type ErasureResource = z.infer<typeof erasure>;

export const erasures = z.strictObject({ itens: z.array(erasure), proximo_cursor: z.string().nullable() });
export type ErasureList = z.infer<typeof erasures>;
