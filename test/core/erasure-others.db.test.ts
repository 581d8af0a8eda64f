/** A worker is forgotten whose CPF stands in the text of another's open loan: that loan stays as it is, but for the CPF. */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkProof } from '../../src/audit/proof/check-proof.ts';
import { readProof } from '../../src/audit/proof/proof.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import type { LoanResource } from '../../src/contract/resources/loan-resource.ts';
import { rebuildLoans } from '../../src/core/projection/rebuild.ts';
import { eraseAll } from '../../src/core/workers/erase.ts';
import { orderErasure } from '../../src/core/workers/order-erasure.ts';
import { workerKeyOf } from '../../src/core/workers/worker-key.ts';
import { startApi } from '../support/api.ts';
import { sealAndSign, TRUSTED } from '../support/checkpoint.ts';
import { startEngine } from '../support/engine.ts';
import { insertWebhook } from '../support/outbox.ts';
import { startReceiver } from '../support/receiver.ts';
import { TERMS } from '../support/partner-world.ts';
import { untilSettled } from '../support/settled.ts';
import { silentLog } from '../support/silent-log.ts';
import { cpfOf } from '../support/tax-ids.ts';

const KEY = workerKeyOf(randomBytes(32));
const [GONE, STAYS] = [cpfOf(123_456_789), cpfOf(987_654_321)];

const api = await startApi({ allowInsecure: true, testWaitMs: 1 });
const { pool, sql } = api.database;

test("only the CPF goes from another worker's events; the loan goes on, and the evidence holds", async () => {
  const partnerId = await api.partner();
  const token = await api.token(partnerId, ['emprestimos:read', 'emprestimos:write', 'sandbox']);
  const post = <T>(path: string, body: object, key = path) =>
    api.send<T>('POST', path, { token, headers: { 'Idempotency-Key': key }, body });
  await post('/v1/sandbox/autorizacoes', { cpf_trabalhador: GONE, origem: 'web' });
  const written = `M ${Array.from(GONE).join(' ')}`;
  const body = { ...TERMS, cpf_trabalhador: STAYS, nome_trabalhador: 'Outra Pessoa', matricula: written };
  const { body: loan } = await post<LoanResource>('/v1/emprestimos', body);
  const read = () => api.send<LoanResource>('GET', `/v1/emprestimos/${loan.id}`, { token });
  const before = (await read()).body;
  expect(before.matricula).toBe(written);
  const events = await sql<{ id: string }[]>`select id from events where stream = ${loan.id} order by version`;
  await untilSettled(sql);
  await sealAndSign(pool);

  const order = { cpf: GONE, actor: 'operador:ana', reason: 'pedido do titular', courtOrder: null, years: 5 };
  const ordered = await orderErasure(pool, KEY, order);
  expect(ordered).toMatchObject({ ok: { ofOthers: events.slice(0, 1).map(({ id }) => id), isNew: true } });
  await eraseAll(pool);

  expect((await read()).body).toEqual({ ...before, matricula: 'M apagado' });
  expect(
    await sql`select from events where data::text like ${`%${GONE}%`} or data::text like ${`%${written}%`}`,
  ).toEqual([]);
  expect((await post(`/v1/sandbox/emprestimos/${loan.id}/assinatura`, {})).status).toBeLessThan(300);
  await untilSettled(sql);
  await sealAndSign(pool);
  expect((await verifySeals(pool)).findings).toEqual([]);
  expect(await rebuildLoans(pool, silentLog, { repair: false })).toMatchObject({ differences: [] });
});

test("what is still to be sent of another worker's event is sent, without the CPF; its proof fits, and the feed shows it", async () => {
  const partnerId = await api.partner();
  const receiver = await startReceiver();
  const token = await api.token(partnerId, ['emprestimos:write', 'webhooks:read', 'sandbox']);
  await insertWebhook(sql, partnerId, receiver.url, ['desembolso.falhou']);
  const loan = randomUUID();
  const motivo = `a conta é de ${Array.from(GONE).join('.')}`;
  const data = { emprestimo_id: loan, numero_emprestimo: '2026-00000001', motivo };
  await api.send('POST', '/v1/sandbox/autorizacoes', {
    token,
    headers: { 'Idempotency-Key': 'autorizacao' },
    body: { cpf_trabalhador: GONE, origem: 'web' },
  });
  await sql`select append_event(${loan}, 0, 'desembolso.falhou', ${partnerId}, ${sql.json(data)}::json, 'test')`;
  await untilSettled(sql);
  const order = { cpf: GONE, actor: 'operador:ana', reason: 'pedido do titular', courtOrder: null, years: 5 };
  expect(await orderErasure(pool, KEY, order)).toMatchObject({ ok: { isNew: true } });
  await eraseAll(pool);

  const [delivery] = await sql<[{ id: string; status: string }]>`
    select id, status from deliveries where partner_id = ${partnerId}`;
  expect(delivery.status).toBe('pendente');
  const engine = startEngine(pool);
  while ((await engine.poll()) > 0);
  await engine.close();
  const sent = receiver.posts.map((post) => JSON.parse(post.body.toString()) as { data: object });
  expect(sent).toEqual([expect.objectContaining({ data: { ...data, motivo: 'a conta é de apagado' } })]);
  expect(await sql`select status from deliveries where id = ${delivery.id}`).toEqual([{ status: 'entregue' }]);
  await untilSettled(sql);
  const { body: feed } = await api.send<{ itens: { envelope?: object }[] }>('GET', '/v1/eventos', { token });
  expect(feed.itens.at(-1)).toMatchObject({ envelope: sent[0] });
  expect((await api.send('POST', `/v1/entregas/${delivery.id}/reenvio`, { token })).status).not.toBe(409);

  await sealAndSign(pool);
  const proof = JSON.stringify(await readProof(pool, delivery.id));
  expect(checkProof(proof, TRUSTED)).toMatchObject({ fits: true, reason: null });
  expect((await verifySeals(pool)).findings).toEqual([]);
});

test('a CPF in what a partner sets is refused by field, however it is written', async () => {
  const partnerId = await api.partner();
  const token = await api.token(partnerId, ['webhooks:write']);
  const url = (path: string) => `https://parceiro.example.com/${path}`;
  const eventos = ['desembolso.falhou'];
  const id = await insertWebhook(sql, partnerId, url('a'));
  const wrong = [
    ['POST', '/v1/webhooks', { url: url(GONE), eventos }, 'url'],
    ['POST', '/v1/webhooks', { url: url(`a?b=%3${Array.from(GONE).join('%3')}`), eventos }, 'url'],
    ['PATCH', `/v1/webhooks/${id.id}`, { url: url(`x/${GONE.slice(0, 3)}.${GONE.slice(3)}`) }, 'url'],
    ['PUT', `/v1/webhooks/${id.id}/opcoes`, { rotulo: `de ${GONE}` }, 'rotulo'],
    ['PUT', '/v1/alertas', { email: `${GONE}@example.com` }, 'email'],
  ] as const;
  for (const [method, path, body, campo] of wrong) {
    const answer = await api.send<{ detalhes?: object[] }>(method, path, { token, body });
    expect([path, answer.status, answer.body.detalhes]).toEqual([
      path,
      400,
      [{ campo, mensagem: 'não pode ter um CPF, porque fica no histórico' }],
    ]);
  }
});

test('a reason with a spaced CPF is refused as one', async () => {
  const motivo = `pedido de ${Array.from(GONE).join(' ')}`;
  const token = await api.token(undefined, ['operador']);
  const answer = await api.send('POST', '/v1/operador/apagamentos', { token, body: { cpf: GONE, motivo } });
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([400, expect.stringContaining('CPF')]);
});
