/** The margin query, as a partner asks and reads it (decisions, "Endpoints"). */
import { z } from 'zod';
import { cnpj, cpf } from './tax-ids.ts';
import { id, reais, timestamp } from './values.ts';

/** `cache`: an earlier query was reused. `registry`: the registry answered while this request was under way. */
const MARGIN_ORIGINS = ['registry', 'cache'] as const;
export type MarginOrigin = (typeof MARGIN_ORIGINS)[number];

export const marginRequest = z.strictObject({ cpf, numero_inscricao_empregador: cnpj });

export const marginResource = z
  .strictObject({
    consulta_margem_id: id,
    cpf,
    numero_inscricao_empregador: cnpj,
    valor_total_vencimentos: reais,
    valor_margem_disponivel: reais,
    consultada_em: timestamp,
    origem: z.enum(MARGIN_ORIGINS),
  })
  .meta({ id: 'Margem' });
export type MarginResource = z.infer<typeof marginResource>;
