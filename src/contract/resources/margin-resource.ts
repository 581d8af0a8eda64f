/** The margin query, as a partner asks and reads it. */
import { z } from 'zod';
import { AUTHORIZATION_ORIGINS } from '../statuses.ts';
import { cnpj, cpf } from '../tax-ids.ts';
import { component, id, reais, signedReais, timestamp } from '../values.ts';

/** `registry`: this request asked the registry and emitted the event. `cache`: the answer is another query's. */
const MARGIN_ORIGINS = ['registry', 'cache'] as const;
export type MarginOrigin = (typeof MARGIN_ORIGINS)[number];

export const marginRequest = z.strictObject({ cpf, numero_inscricao_empregador: cnpj });

export const marginResource = component('Margem', {
  consulta_margem_id: id,
  cpf,
  numero_inscricao_empregador: cnpj,
  valor_total_vencimentos: reais,
  valor_margem_disponivel: signedReais,
  consultada_em: timestamp,
  origem: z.enum(MARGIN_ORIGINS).meta({
    text: {
      pt: '`registry`: esta requisição consultou o registry e emitiu o evento. `cache`: ela recebeu a resposta de outra consulta, recente ou em andamento, sem consultar nem emitir',
      en: '`registry`: this request asked the registry and emitted the event. `cache`: it got the answer of another query, recent or under way, and neither asked nor emitted',
    },
  }),
});
export type MarginResource = z.infer<typeof marginResource>;

/** A worker's acceptance of an authorization, as the sandbox and the loan core report it. */
export const acceptance = z.strictObject({ cpf_trabalhador: cpf, origem: z.enum(AUTHORIZATION_ORIGINS) });
