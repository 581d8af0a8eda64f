/** Workers are forgotten over HTTP, and by the operator's page. */
import { expect, test } from 'vitest';
import type { ErasureList, ErasureResource } from '../../src/contract/resources/worker-resource.ts';
import { eraseAll } from '../../src/core/workers/erase.ts';
import { startApi } from '../support/api.ts';
import { TERMS } from '../support/partner-world.ts';
import { untilSettled } from '../support/settled.ts';
import { cpfOf } from '../support/tax-ids.ts';

const PATH = '/v1/operador/apagamentos';
const api = await startApi();
const token = await api.token(undefined, ['operador']);

const order = (body: object) => api.send<ErasureResource & { mensagem: string }>('POST', PATH, { token, body });

/** A worker who accepted an authorization, and whose loan is open if one is asked for. */
async function meet(cpf: string, hasLoan = false): Promise<void> {
  const partnerId = await api.partner();
  const core = await api.token(undefined, ['nucleo']);
  const accepted = { parceiro_id: partnerId, cpf_trabalhador: cpf, origem: 'web' };
  await api.send('POST', '/v1/nucleo/autorizacoes', { token: core, body: accepted });
  const loan = { parceiro_id: partnerId, ...TERMS, cpf_trabalhador: cpf };
  if (hasLoan) await api.send('POST', '/v1/nucleo/emprestimos', { token: core, body: loan });
  await untilSettled(api.database.sql);
}

test('an order is given, read while it is under way, and read when it is done', async () => {
  await meet(cpfOf(21));
  const given = await order({ cpf: cpfOf(21), motivo: ' pedido do titular ' });
  expect([given.status, given.body]).toMatchObject([
    202,
    { situacao: 'em_andamento', eventos: 1, motivo: 'pedido do titular' },
  ]);
  expect(given.body.autor).toMatch(/^operador:/);
  expect((await order({ cpf: cpfOf(21), motivo: 'de novo' })).body).toEqual(given.body);
  await eraseAll(api.database.pool);
  const { body: done } = await api.send<ErasureResource>('GET', `${PATH}/${given.body.id}`, { token });
  expect(done).toEqual({ ...given.body, situacao: 'concluido', concluido_em: expect.any(String) as string });
  expect((await api.send<ErasureList>('GET', PATH, { token })).body).toEqual({ itens: [done], proximo_cursor: null });
  expect((await order({ cpf: cpfOf(21), motivo: 'x' })).status).toBe(404);
});

test('an open loan stands against an order, and nothing against a court’s', async () => {
  await meet(cpfOf(22), true);
  const refused = await order({ cpf: cpfOf(22), motivo: 'pedido' });
  expect([refused.status, refused.body.mensagem]).toEqual([
    409,
    expect.stringMatching(/está aberto: o status é em_assinatura$/),
  ]);
  const ordered = await order({ cpf: cpfOf(22), motivo: 'ofício', ordem_judicial: '0001234-56.2026.8.26.0100' });
  expect([ordered.status, ordered.body.ordem_judicial]).toEqual([202, '0001234-56.2026.8.26.0100']);
});

test.each([
  [{ cpf: '52998224726', motivo: 'x' }, 'CPF inválido'],
  [{ cpf: cpfOf(23), motivo: `o CPF ${cpfOf(23)}` }, 'não pode ter um CPF'],
  [{ cpf: cpfOf(23) }, 'motivo'],
  [{ cpf: cpfOf(23), motivo: 'x', ordem_judicial: 'sim' }, 'número da ordem'],
])('%j is 400 and says why', async (body, rule) => {
  const { status, text } = await order(body);
  expect([status, text]).toEqual([400, expect.stringContaining(rule)]);
});

test('only an operator gives one, and only where a key is configured', async () => {
  const body = { cpf: cpfOf(24), motivo: 'x' };
  const others = [
    await api.token(await api.partner(), ['emprestimos:write']),
    await api.token(undefined, ['auditoria:read', 'auditoria:cpf']),
  ];
  for (const other of others) expect((await api.send('POST', PATH, { token: other, body })).status).toBe(403);
  const keyless = await startApi({ workers: null });
  const { status, text } = await keyless.send('POST', PATH, {
    token: await keyless.token(undefined, ['operador']),
    body,
  });
  expect([status, text]).toEqual([503, expect.stringContaining('WORKER_KEY_FILE')]);
});

test('a loan that a court had erased while it was open has no next step', async () => {
  const cpf = cpfOf(25);
  await meet(cpf, true);
  await order({ cpf, motivo: 'ofício', ordem_judicial: '10' });
  await eraseAll(api.database.pool);
  const [loan] = await api.database.sql<[{ id: string }]>`select id from loans order by id desc limit 1`;
  const core = await api.token(undefined, ['nucleo']);
  const { body } = await api.send('GET', `/v1/nucleo/emprestimos/${loan.id}`, { token: core });
  expect(body).toMatchObject({ cpf_trabalhador: 'apagado', status: 'em_assinatura', proxima_acao: null });
});
