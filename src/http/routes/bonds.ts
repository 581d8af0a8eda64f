/** What the registry knows: a worker's margin, asked now, and the bonds that the nightly sync detected. */
import { z } from 'zod';
import { marginRequest, marginResource } from '../../contract/resources/margin-resource.ts';
import { NO_REGISTRY } from '../../contract/refusals.ts';
import { toReais, id } from '../../contract/values.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';
import { DEFAULT_BOND_PAGE, endedBondPage, MAX_BOND_PAGE, newBondPage } from '../../contract/resources/bonds.ts';
import { readBonds } from '../../core/bonds/read-bonds.ts';
import { momentField } from '../cursor.ts';
import type { HttpDeps } from '../deps.ts';
import { cursor, limitOf, PAGE_ANSWER, periodEnd, periodStart } from '../page.ts';

const skipQuery = z.strictObject({
  skip_cache: z
    .enum(['true', 'false'], 'deve ser true ou false')
    .transform((text) => text === 'true')
    .optional(),
});

const cursorFields = z.tuple([momentField, id]).transform(([detectedAt, record]) => ({ detectedAt, id: record }));

const query = z.strictObject({
  desde: periodStart.optional(),
  ate: periodEnd.optional(),
  cursor,
  limite: limitOf(MAX_BOND_PAGE, DEFAULT_BOND_PAGE),
});

export const registryRoutes: Routes = [
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
  route('GET /v1/vinculos/desligamentos', 'vinculos:read', {
    summary: {
      pt: 'Desligamentos detectados, do primeiro ao último',
      en: 'Ends of bond that were detected, the first one first',
    },
    query,
    answers: answered(200, endedBondPage, PAGE_ANSWER),
  })((call, deps) => list('ended', call, deps)),
  route('GET /v1/vinculos/novos', 'vinculos:read', {
    summary: {
      pt: 'Novos vínculos detectados, do primeiro ao último',
      en: 'Rehires that were detected, the first one first',
    },
    query,
    answers: answered(200, newBondPage, PAGE_ANSWER),
  })((call, deps) => list('new', call, deps)),
];

async function list<K extends 'ended' | 'new'>(
  kind: K,
  call: { readonly path: string; readonly partnerId: string; readonly query: z.output<typeof query> },
  { pool, cursors }: HttpDeps,
) {
  const { partnerId, query: asked } = call;
  const name = `${call.path} ${partnerId}`;
  const after = await cursors.read(name, cursorFields, asked.cursor);
  const { desde: from = null, ate: until = null, limite: limit } = asked;
  const { bonds, hasMore } = await readBonds(pool, { partnerId, kind, from, until, after, limit });
  const last = bonds.at(-1);
  const proximo_cursor =
    hasMore && last !== undefined ? await cursors.write(name, [last.detectedAt.toISOString(), last.id]) : null;
  const itens = bonds.map(({ data, detectedAt }) => Object.assign(data, { detectado_em: detectedAt.toISOString() }));
  return { status: 200, body: { itens, proximo_cursor } } as const;
}
