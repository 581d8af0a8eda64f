import { z } from 'zod';
import { marginRequest, marginResource } from '../../contract/resources/margin-resource.ts';
import { NO_REGISTRY } from '../../contract/refusals.ts';
import { toReais } from '../../contract/values.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';

const skipQuery = z.strictObject({
  skip_cache: z
    .enum(['true', 'false'], 'deve ser true ou false')
    .transform((text) => text === 'true')
    .optional(),
});

export const marginRoutes: Routes = [
  route('POST /v1/margem/consulta', 'margem:read', {
    ownCore: true,
    summary: { pt: 'Consulta a margem de um trabalhador', en: "Queries a worker's margin" },
    body: marginRequest,
    query: skipQuery,
    answers: answered(200, marginResource, {
      pt: 'A margem, do registry ou de uma consulta recente',
      en: 'The margin, from the registry or a recent query',
    }),
    errors: ['MARGEM_NEGOCIAL', 'MARGEM_UPSTREAM'],
  })(async ({ partnerId, actor, requestId, body, query }, { margins }) => {
    if (margins === null) return NO_REGISTRY;
    const { cpf, numero_inscricao_empregador } = body;
    const found = await margins.query(
      { partnerId, actor, requestId },
      { workerCpf: cpf, employerCnpj: numero_inscricao_empregador, skipCache: query.skip_cache ?? false },
    );
    if ('refused' in found) return found;
    const { query: made, origin } = found.ok;
    const resource = {
      consulta_margem_id: made.id,
      cpf,
      numero_inscricao_empregador,
      valor_total_vencimentos: toReais(made.earningsCentavos),
      valor_margem_disponivel: toReais(made.marginCentavos),
      consultada_em: made.queriedAt.toISOString(),
      origem: origin,
    };
    return { status: 200, body: resource };
  }),
];
