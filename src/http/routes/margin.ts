/** The margin query (contract, "Endpoints referenced by the event rules"; decisions, "Endpoints"). */
import { z } from 'zod';
import { marginRequest, marginResource, type MarginResource } from '../../contract/margin-resource.ts';
import { toReais } from '../../contract/values.ts';
import { ApiError } from '../api-error.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';

const skipQuery = z.object({
  skip_cache: z
    .enum(['true', 'false'], 'deve ser true ou false')
    .transform((text) => text === 'true')
    .optional(),
});

export function addMarginRoutes(add: AddOperation, { margins }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: '/v1/margem/consulta',
      summary: 'Consulta a margem de um trabalhador',
      scope: 'margem:read',
      body: marginRequest,
      query: skipQuery,
      answers: { 200: { description: 'A margem, do registry ou de uma consulta recente', schema: marginResource } },
      errors: ['MARGEM_NEGOCIAL', 'MARGEM_UPSTREAM'],
    },
    async ({ partnerId, actor, requestId, body, query }, c) => {
      const { cpf, numero_inscricao_empregador } = body;
      const found = await margins.query(
        { partnerId, actor, requestId },
        { workerCpf: cpf, employerCnpj: numero_inscricao_empregador, skipCache: query.skip_cache ?? false },
      );
      if ('failure' in found) {
        const { kind, error } = found.failure;
        if (kind === 'negocial') throw new ApiError('MARGEM_NEGOCIAL', `o registry recusou a consulta: ${error}`);
        throw new ApiError('MARGEM_UPSTREAM', `a consulta ao registry falhou: ${error}`);
      }
      const resource: MarginResource = {
        consulta_margem_id: found.query.id,
        cpf,
        numero_inscricao_empregador,
        valor_total_vencimentos: toReais(found.query.earningsCentavos),
        valor_margem_disponivel: toReais(found.query.marginCentavos),
        consultada_em: found.query.queriedAt.toISOString(),
        origem: found.origin,
      };
      return c.json(resource, 200);
    },
  );
}
