/**
 * The events of authorizations and margins, from the request to the partner's own receiver. The partner world holds
 * each POST against the contract: signature, headers, envelope, every field of the catalog in its order.
 */
import { expect, test } from 'vitest';
import type { MarginResource } from '../../src/contract/resources/margin-resource.ts';
import { startPartnerWorld } from '../support/partner-world.ts';

const WORKER = { cpf: '52998224725', numero_inscricao_empregador: '11222333000181' };
const world = await startPartnerWorld();

async function newPartner() {
  const { api } = world;
  const partner = await world.partner();
  const { id } = partner;
  const token = await api.token(id, ['margem:read', 'sandbox']);
  const ask = (query = '') => api.send<MarginResource>('POST', `/v1/margem/consulta${query}`, { token, body: WORKER });
  const tell = (told: object) => api.send('PUT', '/v1/sandbox/margem', { token, body: { ...WORKER, ...told } });
  return { id, token, received: () => partner.received(), ask, tell };
}

test('autorizacao.confirmada arrives with what was confirmed', async () => {
  const { token, received } = await newPartner();
  const body = { cpf_trabalhador: WORKER.cpf, origem: 'mensageria' };
  const answer = await world.api.send<{ autorizacao_id: string }>('POST', '/v1/sandbox/autorizacoes', { token, body });
  const { autorizacao_id } = answer.body;
  expect(await received()).toMatchObject([
    { evento: 'autorizacao.confirmada', data: { autorizacao_id, ...body, status: 'confirmada' } },
  ]);
});

test('margem.concluida arrives for the first of two queries, not for the second, and again when the cache is skipped', async () => {
  const { ask, tell, received } = await newPartner();
  await tell({ valor_total_vencimentos: 4321.09, valor_margem_disponivel: 1234.5 });
  const dataOf = (answer: MarginResource) => ({
    cpf_trabalhador: answer.cpf,
    cnpj_empregador: answer.numero_inscricao_empregador,
    consulta_margem_id: answer.consulta_margem_id,
    salario_bruto: answer.valor_total_vencimentos,
    margem_disponivel: answer.valor_margem_disponivel,
    margem_percentual: 0.2857,
  });
  const first = (await ask()).body;
  const afterFirst = await received();
  expect(afterFirst).toMatchObject([{ evento: 'margem.concluida', data: dataOf(first) }]);
  const second = await ask();
  expect([second.status, second.body]).toEqual([200, { ...first, origem: 'cache' }]);
  expect(await received()).toEqual(afterFirst);
  const third = (await ask('?skip_cache=true')).body;
  expect((await received()).map(({ data }) => data)).toEqual([dataOf(first), dataOf(third)]);
});

test('margem.concluida has no percentage where there are no earnings', async () => {
  const { ask, tell, received } = await newPartner();
  await tell({ valor_total_vencimentos: 0, valor_margem_disponivel: 0 });
  await ask();
  expect(await received()).toMatchObject([{ data: { salario_bruto: 0, margem_percentual: null } }]);
});

test('margem.concluida arrives for a query that the service asked for itself', async () => {
  const { id, received } = await newPartner();
  const asking = { workerCpf: WORKER.cpf, employerCnpj: WORKER.numero_inscricao_empregador };
  await world.api.deps.margins?.query({ partnerId: id, actor: 'renegotiation', requestId: null }, asking);
  expect(await received()).toMatchObject([{ evento: 'margem.concluida', data: { cpf_trabalhador: WORKER.cpf } }]);
});

test.each([
  ['negocial', 422],
  ['upstream', 502],
])('margem.falhou arrives when the registry fails a query (%s)', async (falha, status) => {
  const { ask, tell, received } = await newPartner();
  await tell({ falha, erro: 'não foi possível' });
  expect((await ask()).status).toBe(status);
  const data = {
    cpf_trabalhador: WORKER.cpf,
    cnpj_empregador: WORKER.numero_inscricao_empregador,
    tipo_erro: falha,
    erro: 'não foi possível',
  };
  expect(await received()).toMatchObject([{ evento: 'margem.falhou', data }]);
});
