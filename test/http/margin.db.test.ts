/** The margin query over HTTP: shapes, refusals, what the sandbox makes the registry say, and loans that name a query. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ErrorBody } from '../../src/contract/errors.ts';
import { marginResource, type MarginResource } from '../../src/contract/resources/margin-resource.ts';
import type { Scope } from '../../src/contract/statuses.ts';
import { marginQueries } from '../../src/core/margin/margin.ts';
import { createApp } from '../../src/http/app.ts';
import { startApi } from '../support/api.ts';
import { holdToDescription } from '../support/described-answers.ts';
import { gated } from '../support/registry.ts';
import { silentLog } from '../support/silent-log.ts';
import { cpfOf } from '../support/tax-ids.ts';
import { openPool } from '../support/database.ts';

const PATH = '/v1/margem/consulta';
const SANDBOX = '/v1/sandbox/margem';
const SCOPES: readonly Scope[] = ['margem:read', 'sandbox', 'emprestimos:read', 'emprestimos:write'];
const WORKER = { cpf: '52998224725', numero_inscricao_empregador: '11222333000181' };
const api = await startApi();

const partnerToken = async () => api.token(await api.partner(), SCOPES);
const ask = (token: string, query = '', body: unknown = WORKER) =>
  api.send<MarginResource & ErrorBody>('POST', `${PATH}${query}`, { token, body });
const report = (token: string, reported: object) =>
  api.send<Record<string, unknown> & ErrorBody>('PUT', SANDBOX, { token, body: { ...WORKER, ...reported } });
const fieldsOf = (body: ErrorBody) => body.detalhes?.map(({ campo }) => campo).toSorted();

describe('POST /v1/margem/consulta', () => {
  test('answers the whole margin, from the registry and then from the cache', async () => {
    const token = await partnerToken();
    await report(token, { valor_total_vencimentos: 4321.09, valor_margem_disponivel: 1234.5 });
    const first = await ask(token);
    expect(first.status).toBe(200);
    expect(marginResource.parse(first.body)).toEqual(first.body);
    expect(Object.entries(first.body)).toEqual([
      ['consulta_margem_id', expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)],
      ['cpf', WORKER.cpf],
      ['numero_inscricao_empregador', WORKER.numero_inscricao_empregador],
      ['valor_total_vencimentos', 4321.09],
      ['valor_margem_disponivel', 1234.5],
      ['consultada_em', expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)],
      ['origem', 'registry'],
    ]);
    expect((await ask(token)).body).toEqual({ ...first.body, origem: 'cache' });
    expect((await ask(token, '?skip_cache=false')).body.origem).toBe('cache');
    const fresh = await ask(token, '?skip_cache=true');
    expect([fresh.body.origem, fresh.body.consulta_margem_id === first.body.consulta_margem_id]).toEqual([
      'registry',
      false,
    ]);
  });

  test('knows a margin for every worker with a valid CPF', async () => {
    const { status, body } = await ask(await partnerToken(), '', { ...WORKER, cpf: cpfOf(4711) });
    expect([status, body.valor_total_vencimentos, body.valor_margem_disponivel]).toEqual([200, 5000, 1750]);
  });

  test('answers 422 for a refusal of the registry and 502 for a failure, with its words', async () => {
    const token = await partnerToken();
    await report(token, { falha: 'negocial', erro: 'vínculo não encontrado' });
    const refused = await ask(token);
    expect([refused.status, refused.body.codigo]).toEqual([422, 'MARGEM_NEGOCIAL']);
    expect(refused.body.mensagem).toContain('vínculo não encontrado');
    await report(token, { falha: 'upstream', erro: 'em manutenção' });
    const failed = await ask(token);
    expect([failed.status, failed.body.codigo]).toEqual([502, 'MARGEM_UPSTREAM']);
    expect(failed.body.mensagem).toContain('em manutenção');
  });

  test.each(['1', 'TRUE', '', 'sim', 'true&skip_cache=true'])('refuses skip_cache=%j', async (value) => {
    const answer = await ask(await partnerToken(), `?skip_cache=${value}`);
    expect([answer.status, answer.body.codigo, fieldsOf(answer.body)]).toEqual([400, 'ERRO_VALIDACAO', ['skip_cache']]);
  });

  test.each([
    [{}, ['cpf', 'numero_inscricao_empregador']],
    [{ ...WORKER, cpf: '529.982.247-25' }, ['cpf']],
    [{ ...WORKER, cpf: '11111111111' }, ['cpf']],
    [{ ...WORKER, numero_inscricao_empregador: '11222333000180' }, ['numero_inscricao_empregador']],
    [{ ...WORKER, valor: 1 }, ['valor']],
  ])('refuses the body %j', async (body, fields) => {
    const answer = await ask(await partnerToken(), '', body);
    expect([answer.status, fieldsOf(answer.body)]).toEqual([400, fields]);
  });

  test('leaves the request that caused it in the log', async () => {
    const partnerId = await api.partner();
    const answer = await ask(await api.token(partnerId, SCOPES));
    const [event] = await api.database.sql`select actor, request_id from events where partner_id = ${partnerId}`;
    expect(event).toEqual({ actor: expect.any(String), request_id: answer.headers.get('X-Request-Id') });
  });
});

describe('PUT /v1/sandbox/margem', () => {
  test('answers what the registry will answer', async () => {
    const token = await partnerToken();
    const amounts = { valor_total_vencimentos: 0, valor_margem_disponivel: 0 };
    const failure = { falha: 'upstream', erro: 'fora do ar' };
    const none = { valor_total_vencimentos: null, valor_margem_disponivel: null, falha: null, erro: null };
    expect([(await report(token, amounts)).status, (await report(token, amounts)).body]).toEqual([
      200,
      { ...WORKER, ...none, ...amounts },
    ]);
    expect((await report(token, failure)).body).toEqual({ ...WORKER, ...none, ...failure });
  });

  test("changes nothing for another partner's queries", async () => {
    await report(await partnerToken(), { falha: 'negocial', erro: 'não' });
    expect((await ask(await partnerToken())).status).toBe(200);
  });

  test.each([
    [{}, ['valor_margem_disponivel', 'valor_total_vencimentos']],
    [{ valor_total_vencimentos: 1 }, ['valor_margem_disponivel']],
    [{ falha: 'negocial' }, ['erro']],
    [{ falha: 'talvez', erro: 'x' }, ['falha']],
    [{ falha: 'negocial', erro: '' }, ['erro']],
    [{ falha: 'negocial', erro: 'x', valor_total_vencimentos: 1 }, ['valor_total_vencimentos']],
    [{ valor_total_vencimentos: 1, valor_margem_disponivel: 1, erro: 'x' }, ['erro']],
    [
      { valor_total_vencimentos: -0.01, valor_margem_disponivel: -1.005 },
      ['valor_margem_disponivel', 'valor_total_vencimentos'],
    ],
    [{ valor_total_vencimentos: 1, valor_margem_disponivel: 1, extra: 1 }, ['extra']],
  ])('refuses %j', async (reported, fields) => {
    const answer = await report(await partnerToken(), reported);
    expect([answer.status, fieldsOf(answer.body)]).toEqual([400, fields]);
  });
});

describe('consulta_margem_id in POST /v1/emprestimos', () => {
  const TERMS = {
    cpf_trabalhador: WORKER.cpf,
    nome_trabalhador: 'Maria da Silva',
    matricula: 'M-1',
    cnpj_empregador: WORKER.numero_inscricao_empregador,
    valor_liberado: 1000,
    numero_parcelas: 12,
    valor_parcela: 100,
  };
  const issue = (token: string, terms: object, key: string = randomUUID()) =>
    api.send('POST', '/v1/emprestimos', {
      token,
      headers: { 'Idempotency-Key': key },
      body: { ...TERMS, ...terms },
    });

  test('may be any query of this partner about this worker and employer, however it is written', async () => {
    const token = await partnerToken();
    const { consulta_margem_id } = (await ask(token)).body;
    expect((await issue(token, { consulta_margem_id })).status).toBe(201);
    expect((await issue(token, { consulta_margem_id: consulta_margem_id.toUpperCase() })).status).toBe(201);
    const kept = await api.database.sql`
      select count(*)::int as loans from loans where state ->> 'marginQueryId' = ${consulta_margem_id}`;
    expect(kept).toEqual([{ loans: 2 }]);
  });

  test("is refused when unknown, another partner's, or about somebody else, and leaves the key free", async () => {
    const token = await partnerToken();
    const own = (await ask(token)).body.consulta_margem_id;
    const foreign = (await ask(await partnerToken())).body.consulta_margem_id;
    const refused = [
      { consulta_margem_id: randomUUID() },
      { consulta_margem_id: foreign },
      { consulta_margem_id: own, cpf_trabalhador: cpfOf(1) },
      { consulta_margem_id: own, cnpj_empregador: '00000000000191' },
    ];
    for (const terms of refused) {
      const answer = await issue(token, terms, 'one-key');
      expect([answer.status, answer.body.codigo, fieldsOf(answer.body)]).toEqual([
        400,
        'ERRO_VALIDACAO',
        ['consulta_margem_id'],
      ]);
    }
    expect((await issue(token, { consulta_margem_id: own }, 'one-key')).status).toBe(201);
  });

  test('is refused when it is no UUID', async () => {
    const answer = await issue(await partnerToken(), { consulta_margem_id: '1' });
    expect([answer.status, fieldsOf(answer.body)]).toEqual([400, ['consulta_margem_id']]);
  });
});

test('while the registry hangs every other route goes on, on a pool of two connections', async () => {
  const pool = openPool(api.database.url, { name: 'two', max: 2 });
  let asked = 0;
  const queryMargin = () => ((asked += 1), new Promise<never>(() => undefined));
  const registry = gated({ queryMargin }, { timeoutMs: 1_500 });
  const margins = marginQueries({ pool, registry, log: silentLog, reuseHours: 24, leaseMs: 6_500 });
  const app = createApp({ ...api.deps, pool, margins });
  holdToDescription(app, api.described);
  const token = await partnerToken();
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const hanging = Array.from({ length: 12 }, (_, index) =>
    Promise.resolve(
      app.request(PATH, { method: 'POST', headers, body: JSON.stringify({ ...WORKER, cpf: cpfOf(9_000 + index) }) }),
    ),
  );
  await expect.poll(() => asked).toBe(12);
  const reported = await app.request(SANDBOX, {
    method: 'PUT',
    headers,
    body: JSON.stringify({ ...WORKER, valor_total_vencimentos: 1, valor_margem_disponivel: 1 }),
  });
  const read = await app.request(`/v1/emprestimos/${randomUUID()}`, { headers });
  const alive = await app.request('/healthz');
  expect([reported.status, read.status, alive.status]).toEqual([200, 404, 200]);
  const answers = await Promise.all(hanging);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([502]));
});
