/** A worker is forgotten whose CPF stands in the text of another's open loan: that loan stays as it is, but for the CPF. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import type { LoanResource } from '../../src/contract/resources/loan-resource.ts';
import { rebuildLoans } from '../../src/core/projection/rebuild.ts';
import { eraseAll } from '../../src/core/workers/erase.ts';
import { orderErasure } from '../../src/core/workers/order-erasure.ts';
import { workerKeyOf } from '../../src/core/workers/worker-key.ts';
import { startApi } from '../support/api.ts';
import { sealAndSign } from '../support/checkpoint.ts';
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

test('a reason with a spaced CPF is refused as one', async () => {
  const motivo = `pedido de ${Array.from(GONE).join(' ')}`;
  const token = await api.token(undefined, ['operador']);
  const answer = await api.send('POST', '/v1/operador/apagamentos', { token, body: { cpf: GONE, motivo } });
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([400, expect.stringContaining('CPF')]);
});
