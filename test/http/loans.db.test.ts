/** Loans over HTTP: shapes, refusals, keys and versions; what the loan does is tested with the core. */
import { describe, expect, test } from 'vitest';
import type { Scope } from '../../src/contract/statuses.ts';
import {
  loanResource,
  registrationResource,
  type LoanResource,
  type RegistrationResource,
} from '../../src/contract/resources/loan-resource.ts';
import { startApi, type Account } from '../support/api.ts';
import { TERMS } from '../support/partner-world.ts';

const PATH = '/v1/emprestimos';
const SCOPES: readonly Scope[] = [
  'emprestimos:read',
  'emprestimos:write',
  'sandbox',
  'webhooks:read',
  'webhooks:write',
];
const api = await startApi();

async function partnerToken(account: Account = {}): Promise<string> {
  return api.token(await api.partner(account), SCOPES);
}

async function issue(token: string, key = 'key-1') {
  return api.send<LoanResource>('POST', PATH, { token, headers: { 'Idempotency-Key': key }, body: TERMS });
}

async function loanIn(status: 'em_assinatura' | 'aguardando_averbacao', token: string): Promise<string> {
  const { id } = (await issue(token)).body;
  if (status === 'aguardando_averbacao') await api.send('POST', `/v1/sandbox/emprestimos/${id}/assinatura`, { token });
  return id;
}

describe('POST /v1/emprestimos', () => {
  test('answers 201 with the loan and its place', async () => {
    const token = await partnerToken();
    const created = await issue(token);
    expect(created.status).toBe(201);
    expect(loanResource.parse(created.body)).toEqual(created.body);
    expect(created.body).toMatchObject({ ...TERMS, status: 'em_assinatura', proxima_acao: 'assinar', versao: 1 });
    expect(created.headers.get('Location')).toBe(`${PATH}/${created.body.id}`);
    const read = await api.send('GET', `${PATH}/${created.body.id}`, { token });
    expect([read.status, read.body]).toEqual([200, created.body]);
  });

  test('answers 202 where the account issues asynchronously', async () => {
    const created = await issue(await partnerToken({ issuance: 'assincrona' }));
    expect(created.status).toBe(202);
    expect(created.body).toMatchObject({ status: 'emitindo', proxima_acao: 'aguardar_emissao' });
    expect(created.body.numero).toMatch(/^P-/);
  });

  test('needs an Idempotency-Key and names it beside the other faults', async () => {
    const token = await partnerToken();
    const body = { ...TERMS, valor_liberado: 1.005, numero_parcelas: 97, cpf_trabalhador: '11111111111', extra: 1 };
    const answer = await api.send('POST', PATH, { token, body });
    expect(answer.status).toBe(400);
    expect(answer.body.detalhes?.map(({ campo }) => campo).toSorted()).toEqual(
      ['Idempotency-Key', 'cpf_trabalhador', 'extra', 'numero_parcelas', 'valor_liberado'].toSorted(),
    );
  });

  test.each(['100.10999999999999999', '1.0000000000000001', '1234.005', '1e-3', '9007199254740993'])(
    'refuses the amount %s instead of rounding it',
    async (amount) => {
      const body = JSON.stringify({ ...TERMS, valor_liberado: 7 }).replace(
        '"valor_liberado":7',
        `"valor_liberado":${amount}`,
      );
      const headers = { 'Idempotency-Key': 'key-1' };
      const answer = await api.send('POST', PATH, { token: await partnerToken(), headers, body });
      expect([answer.status, answer.body.detalhes?.map(({ campo }) => campo)]).toEqual([400, ['valor_liberado']]);
    },
  );

  test.each(['1234.50000000000000000', '1.2345e3', '0.10', '1E+2'])('takes the amount %s as it is', async (amount) => {
    const body = JSON.stringify({ ...TERMS, valor_liberado: 7 }).replace(
      '"valor_liberado":7',
      `"valor_liberado":${amount}`,
    );
    const headers = { 'Idempotency-Key': 'key-1' };
    const answer = await api.send<LoanResource>('POST', PATH, { token: await partnerToken(), headers, body });
    expect([answer.status, answer.body.valor_liberado]).toEqual([201, Number(amount)]);
  });

  test('answers a replay alike and another body with 422', async () => {
    const token = await partnerToken();
    const [first, replay] = [await issue(token), await issue(token)];
    expect([replay.status, replay.body]).toEqual([201, first.body]);
    expect(replay.headers.get('Location')).toBe(first.headers.get('Location'));
    const other = await api.send('POST', PATH, {
      token,
      headers: { 'Idempotency-Key': 'key-1' },
      body: { ...TERMS, matricula: 'M-2' },
    });
    expect([other.status, other.body.codigo]).toEqual([422, 'IDEMPOTENCIA_DIVERGENTE']);
  });
});

describe('GET /v1/emprestimos/{id}', () => {
  test('answers the loan as it was in a version, and 404 above the current one', async () => {
    const token = await partnerToken();
    const id = await loanIn('aguardando_averbacao', token);
    const at = async (version: string) => api.send<LoanResource>('GET', `${PATH}/${id}?versao=${version}`, { token });
    expect((await at('1')).body).toMatchObject({ status: 'em_assinatura', versao: 1 });
    expect((await at('2')).body).toMatchObject({ status: 'aguardando_averbacao', versao: 2 });
    for (const above of ['3', '2147483648', '99999999999999999999']) expect((await at(above)).status).toBe(404);
  });

  test.each(['0', '-1', '1.5', 'x', '', '1e3', '1&versao=2'])('refuses the version %j', async (version) => {
    const token = await partnerToken();
    const id = await loanIn('em_assinatura', token);
    const answer = await api.send('GET', `${PATH}/${id}?versao=${version}`, { token });
    expect([answer.status, answer.body.detalhes?.[0]?.campo]).toEqual([400, 'versao']);
  });
});

describe('averbacao', () => {
  test('is 404 before it was asked, 202 when asked, and then read back', async () => {
    const token = await partnerToken();
    const id = await loanIn('aguardando_averbacao', token);
    const path = `${PATH}/${id}/averbacao`;
    expect((await api.send('GET', path, { token })).status).toBe(404);
    const asked = await api.send<RegistrationResource>('POST', path, { token });
    expect(asked.status).toBe(202);
    expect(registrationResource.parse(asked.body)).toEqual(asked.body);
    expect(asked.body).toMatchObject({ emprestimo_id: id, status: 'processando', protocolo_registry: null });
    const waits = { tentativas: 0, ultima_resposta: null, proxima_tentativa_em: expect.any(String) };
    expect((await api.send('GET', path, { token })).body).toEqual({ ...(asked.body as object), ...waits });
  });

  test('is 409 in a state that refuses it, and names the state', async () => {
    const token = await partnerToken();
    const id = await loanIn('em_assinatura', token);
    const answer = await api.send('POST', `${PATH}/${id}/averbacao`, { token });
    expect([answer.status, answer.body.codigo]).toEqual([409, 'TRANSICAO_INVALIDA']);
    expect(answer.body.mensagem).toContain('em_assinatura');
  });
});

describe('the sandbox', () => {
  test('keeps what the registry will answer', async () => {
    const token = await partnerToken();
    const id = await loanIn('aguardando_averbacao', token);
    const path = `/v1/sandbox/emprestimos/${id}/averbacao`;
    const failing = await api.send('PUT', path, { token, body: { resultado: 'falhou', erro: 'margem insuficiente' } });
    expect([failing.status, failing.body]).toEqual([
      200,
      { emprestimo_id: id, resultado: 'falhou', erro: 'margem insuficiente' },
    ]);
    const rows = await api.database.sql`select error from simulated_registrations where loan_id = ${id}`;
    expect(rows).toEqual([{ error: 'margem insuficiente' }]);
    expect((await api.send('PUT', path, { token, body: { resultado: 'talvez' } })).status).toBe(400);
    const stranger = await partnerToken();
    expect((await api.send('PUT', path, { token: stranger, body: { resultado: 'falhou' } })).status).toBe(404);
  });

  test("moves the partner's pending deliveries forward and counts them", async () => {
    const token = await partnerToken();
    const webhook = { url: 'https://parceiro.example.com/', eventos: ['assinatura.concluida'] };
    await api.send('POST', '/v1/webhooks', { token, body: webhook });
    await loanIn('aguardando_averbacao', token);
    const answer = await api.send('POST', '/v1/sandbox/tempo', { token, body: { avancar_segundos: 60 } });
    expect([answer.status, answer.body]).toEqual([200, { entregas_adiantadas: 1 }]);
  });

  test('a due time is never shown before the delivery was made, and failures began as much earlier', async () => {
    const token = await partnerToken();
    const webhook = { url: 'https://parceiro.example.com/', eventos: ['assinatura.concluida'] };
    const { body: made } = await api.send<{ id: string }>('POST', '/v1/webhooks', { token, body: webhook });
    await loanIn('aguardando_averbacao', token);
    await api.database.sql`
      insert into failing_runs (webhook_id, partner_id, failures, first_failed_at, last_failed_at, last_outcome)
      select id, partner_id, 3, '2026-01-31T12:00:00Z', '2026-01-31T12:30:00Z', 'erro_conexao' from webhooks where id = ${made.id}`;
    await api.send('POST', '/v1/sandbox/tempo', { token, body: { avancar_segundos: 7_200 } });
    const [failing] = await api.database.sql<[{ at: Date }]>`
      select first_failed_at as at from failing_runs where webhook_id = ${made.id}`;
    expect(failing.at.toISOString()).toBe('2026-01-31T10:00:00.000Z');
    const { body: list } = await api.send<{ itens: { proxima_tentativa_em: string; criada_em: string; id: string }[] }>(
      'GET',
      '/v1/entregas',
      { token },
    );
    const [delivery] = list.itens;
    expect(delivery?.proxima_tentativa_em).toBe(delivery?.criada_em);
    const { body: waits } = await api.send<{ proxima_tentativa_em: string }>(
      'GET',
      `/v1/entregas/${delivery?.id}/espera`,
      { token },
    );
    expect(waits.proxima_tentativa_em >= String(delivery?.criada_em)).toBe(true);
  });

  test.each([0, -1, 1.5, '60', 366 * 86_400 + 1, null])('refuses to advance by %j', async (seconds) => {
    const token = await partnerToken();
    const answer = await api.send('POST', '/v1/sandbox/tempo', { token, body: { avancar_segundos: seconds } });
    expect([answer.status, answer.body.detalhes?.[0]?.campo]).toEqual([400, 'avancar_segundos']);
  });
});

describe("the sandbox partner's account", () => {
  test('changes for the loans to come, with a line of history; what is left out stays, and nothing changes nothing', async () => {
    const token = await partnerToken();
    const put = (body: object) => api.send('PUT', '/v1/sandbox/conta', { token, body });
    const before = (await put({})).body as unknown as { readonly id: string };
    const { status, body } = await put({ emissao: 'assincrona', documentos: 'diferida' });
    expect([status, body]).toEqual([200, { ...before, emissao: 'assincrona', documentos: 'diferida' }]);
    expect((await issue(token)).status).toBe(202);
    const lines = await api.database.sql`select change from partner_history where partner_id = ${before.id}`;
    expect(lines.filter(({ change }) => change === 'alteracao')).toHaveLength(1);
  });

  test('refuses another word, and its name is not its own to change', async () => {
    const token = await partnerToken();
    for (const [campo, value] of [
      ['assinatura', 'interna'],
      ['nome', 'Outro'],
    ] as const) {
      const answer = await api.send('PUT', '/v1/sandbox/conta', { token, body: { [campo]: value } });
      expect([answer.status, answer.body.detalhes?.[0]?.campo]).toEqual([400, campo]);
    }
  });
});

test('a loan is found by its number, of its partner alone', async () => {
  const token = await partnerToken();
  const { body: loan } = await issue(token);
  await issue(token, 'key-2');
  const find = async (by: string, numero: string) => {
    const { status, body } = await api.send<{ itens: { id: string }[] }>('GET', `${PATH}?numero=${numero}`, {
      token: by,
    });
    return [status, body.itens.map(({ id }) => id)];
  };
  expect(await find(token, loan.numero)).toEqual([200, [loan.id]]);
  expect(await find(token, '2099-00000001')).toEqual([200, []]);
  expect(await find(await partnerToken(), loan.numero)).toEqual([200, []]);
  const longest = 'N'.repeat(60);
  await api.database.sql`select append_event(${loan.id}, ${loan.versao}, 'emprestimo.emitido', partner_id,
    json_build_object('emprestimo_id', stream, 'numero', ${longest}::text, 'valor_liberado', 1), 'core')
    from events where stream = ${loan.id} and version = 1`;
  expect(await find(token, longest)).toEqual([200, [loan.id]]);
  for (const numero of ['', `${longest}N`, '%00'])
    expect((await api.send('GET', `${PATH}?numero=${numero}`, { token })).body.detalhes?.[0]?.campo).toBe('numero');
});
