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
  const report = (reported: object) =>
    api.send('PUT', '/v1/sandbox/margem', { token, body: { ...WORKER, ...reported } });
  return { id, token, received: () => partner.received(), ask, report };
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

test('margem.concluida has no percentage where there are no earnings', async () => {
  const { ask, report, received } = await newPartner();
  await report({ valor_total_vencimentos: 0, valor_margem_disponivel: 0 });
  await ask();
  expect(await received()).toMatchObject([{ data: { salario_bruto: 0, margem_percentual: null } }]);
});
