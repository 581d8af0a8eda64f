/** What every route refuses alike: unknown paths and methods, types, sizes, rates, and our own faults. */
import { describe, expect, test } from 'vitest';
import { errorBody } from '../../src/contract/errors.ts';
import { DatabaseUnavailable } from '../../src/db/unavailable.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { openPool } from '../support/database.ts';

const PATH = '/v1/webhooks';
const GOOD = { url: 'https://parceiro.example.com/hooks', eventos: ['averbacao.concluida'] };
const SOME_ID = '0198a000-0000-7000-8000-000000000001';
const api = await startApi();
const token = await api.token(await api.partner(), ['webhooks:read', 'webhooks:write', 'emprestimos:read', 'sandbox']);

describe('404', () => {
  test.each(['/v1', '/v2/webhooks', '/v1/webhooks/', `/v1/nada/${SOME_ID}`, '/v1/%zz', '/v1/sandbox/nada'])(
    'answers the unknown path %s, token or none',
    async (path) => {
      for (const sending of [{}, { token }]) {
        const answer = await api.send('GET', path, sending);
        expect([answer.status, answer.body.codigo]).toEqual([404, 'NAO_ENCONTRADO']);
        expect(errorBody.safeParse(answer.body).success).toBe(true);
        expect(answer.headers.get('X-Request-Id')).toBe(answer.body.requisicao_id);
      }
    },
  );

  test.each(['x', '1', `${SOME_ID}0`, '%00', "'", SOME_ID])('answers the id %s', async (id) => {
    const answer = await api.send('GET', `/v1/emprestimos/${id}`, { token });
    expect([answer.status, answer.body.codigo]).toEqual([404, 'NAO_ENCONTRADO']);
  });

  test('comes after 401 for a malformed id', async () => {
    expect((await api.send('GET', '/v1/emprestimos/x')).status).toBe(401);
  });

  test('answers every path of the sandbox outside of it', async () => {
    const production = await startApi({ sandbox: null });
    const answer = await production.send('POST', '/v1/sandbox/tempo', { body: { avancar_segundos: 1 } });
    expect(answer.status).toBe(404);
  });
});

describe('405', () => {
  test.each([
    ['PUT', PATH, 'POST, GET, HEAD'],
    ['DELETE', PATH, 'POST, GET, HEAD'],
    ['PATCH', PATH, 'POST, GET, HEAD'],
    ['OPTIONS', PATH, 'POST, GET, HEAD'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['PUT', '/v1/emprestimos', 'POST, GET, HEAD'],
    ['DELETE', `/v1/emprestimos/${SOME_ID}`, 'GET, HEAD'],
    ['GET', '/v1/sandbox/tempo', 'POST'],
    ['POST', `/v1/sandbox/emprestimos/${SOME_ID}/averbacao`, 'PUT'],
  ])('answers %s %s with Allow: %s, before any token is looked at', async (method, path, allow) => {
    const answer = await api.send(method, path);
    expect(answer.status).toBe(405);
    expect(answer.headers.get('Allow')?.split(', ').toSorted()).toEqual(allow.split(', ').toSorted());
    expect(method === 'HEAD' ? 'METODO_NAO_PERMITIDO' : answer.body.codigo).toBe('METODO_NAO_PERMITIDO');
  });

  test('HEAD follows GET', async () => {
    const answer = await api.send('HEAD', PATH, { token });
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect((await api.send('HEAD', PATH)).status).toBe(401);
  });
});

describe('415', () => {
  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/problem+json', 'application/jsonx', ''])(
    'answers a body of type %j',
    async (type) => {
      const answer = await api.send('POST', PATH, { token, headers: { 'Content-Type': type }, body: GOOD });
      expect([answer.status, answer.body.codigo]).toEqual([415, 'TIPO_NAO_SUPORTADO']);
    },
  );

  test.each([{}, { 'Content-Length': '0' }, { 'Content-Type': 'application/json' }])(
    'is not the answer to no body at all, with %j: that is 400',
    async (headers) => {
      const answer = await api.send('POST', PATH, { token, headers });
      expect([answer.status, answer.body.codigo]).toEqual([400, 'ERRO_VALIDACAO']);
    },
  );

  test('answers a compressed body', async () => {
    const answer = await api.send('POST', PATH, { token, headers: { 'Content-Encoding': 'gzip' }, body: GOOD });
    expect(answer.status).toBe(415);
  });

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json;'])('takes %s', async (type) => {
    const answer = await api.send('POST', PATH, { token, headers: { 'Content-Type': type }, body: GOOD });
    expect(answer.status).toBe(201);
  });

  test.each(['application/json; charset=utf-16', 'application/json;charset="latin1"'])('answers %s', async (type) => {
    const answer = await api.send('POST', PATH, { token, headers: { 'Content-Type': type }, body: GOOD });
    expect([answer.status, answer.body.codigo]).toEqual([415, 'TIPO_NAO_SUPORTADO']);
  });

  test('comes after 401 and 403', async () => {
    const headers = { 'Content-Type': 'text/plain' };
    expect((await api.send('POST', PATH, { headers, body: 'x' })).status).toBe(401);
    const reader = await api.token(await api.partner(), ['webhooks:read']);
    expect((await api.send('POST', PATH, { token: reader, headers, body: 'x' })).status).toBe(403);
  });
});

describe('400 for the body itself', () => {
  test.each([
    ['nothing', ''],
    ['half an object', '{"url":'],
    ['two values', '{}{}'],
    ['a comment', '{} // x'],
    ['bytes that are no UTF-8', new Uint8Array([0x22, 0xff, 0xfe, 0x22])],
    ['half a surrogate pair', '{"url":"\\ud800"}'],
  ])('answers %s', async (_name, body) => {
    const answer = await api.send('POST', PATH, { token, body });
    expect([answer.status, answer.body.codigo]).toEqual([400, 'ERRO_VALIDACAO']);
    expect(answer.body.detalhes).toBeUndefined();
  });

  test('names at most a hundred fields', async () => {
    const body = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`campo_${index}`, 1]));
    const answer = await api.send('POST', PATH, { token, body });
    expect(answer.body.detalhes).toHaveLength(100);
  });

  test('answers fields sent to an operation without a body, and takes an empty object', async () => {
    const path = `/v1/sandbox/emprestimos/${SOME_ID}/assinatura`;
    const answer = await api.send('POST', path, { token, body: { x: 1 } });
    expect([answer.status, answer.body.detalhes?.[0]?.campo]).toEqual([400, 'x']);
    expect((await api.send('POST', path, { token, body: {} })).status).toBe(404);
    expect((await api.send('POST', path, { token })).status).toBe(404);
  });
});

describe('413', () => {
  test('answers one byte over 64 KiB and takes 64 KiB', async () => {
    const fits = JSON.stringify(GOOD).padEnd(64 * 1024, ' ');
    expect((await api.send('POST', PATH, { token, body: fits })).status).toBe(201);
    const answer = await api.send('POST', PATH, { token, body: `${fits} ` });
    expect([answer.status, answer.body.codigo]).toEqual([413, 'CORPO_MUITO_GRANDE']);
  });
});

test('429 answers the request over the rate, with Retry-After, for that partner alone', async () => {
  const limited = await startApi({ rateLimitPerMinute: 3 });
  const mine = await limited.token(await limited.partner(), ['webhooks:read']);
  const other = await limited.token(await limited.partner(), ['webhooks:read', 'webhooks:write']);
  for (let count = 0; count < 3; count += 1) {
    expect((await limited.send('GET', PATH, { token: mine })).status).toBe(200);
  }
  const answer = await limited.send('GET', PATH, { token: mine });
  expect([answer.status, answer.body.codigo]).toEqual([429, 'LIMITE_DE_REQUISICOES']);
  expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0);
  expect((await limited.send('GET', PATH, { token: other })).status).toBe(200);
});

test.each([
  ['of an unknown partner', 401, async () => SOME_ID],
  ['of an inactive partner', 401, (of: TestApi) => of.partner({ active: false })],
  ['without the scope', 403, (of: TestApi) => of.partner()],
  ['without a partner', 401, async () => undefined],
])('429 also answers a signed token %s over the rate, before the database is asked', async (_whose, refused, make) => {
  const limited = await startApi({ rateLimitPerMinute: 3 });
  const theirs = await limited.token(await make(limited), ['emprestimos:read']);
  const statuses: number[] = [];
  for (let count = 0; count < 5; count += 1) statuses.push((await limited.send('GET', PATH, { token: theirs })).status);
  expect(statuses).toEqual([refused, refused, refused, 429, 429]);
  const line = limited.lines.find(({ fields }) => fields['status'] === 429);
  expect(line?.fields['parceiro_id'] ?? undefined).toBe(JSON.parse(atob(theirs.split('.')[1] ?? '')).parceiro_id);
});

test('a token that nobody signed costs its partner nothing', async () => {
  const limited = await startApi({ rateLimitPerMinute: 1 });
  const good = await limited.token(await limited.partner(), ['webhooks:read']);
  const [head, claims] = good.split('.');
  const forged = `${head}.${claims}.${'A'.repeat(86)}`;
  for (let count = 0; count < 3; count += 1) {
    expect((await limited.send('GET', PATH, { token: forged })).status).toBe(401);
  }
  expect((await limited.send('GET', PATH, { token: good })).status).toBe(200);
});

describe('our own faults', () => {
  test('a database out of reach is 503 with Retry-After, never 401', async () => {
    const broken = await startApi({ pool: openPool('postgres://x@127.0.0.1:9/x', { deadlineMs: 2_000 }) });
    const answer = await broken.send('GET', PATH, { token: await broken.token(SOME_ID, ['webhooks:read']) });
    expect([answer.status, answer.body.codigo]).toEqual([503, 'INDISPONIVEL']);
    expect(answer.headers.get('Retry-After')).toMatch(/^\d+$/);
  });

  test('anything else is 500 that tells nothing, and is logged without its message', async () => {
    const cursors = { read: () => Promise.reject(new Error('value 529.982.247-25 whsec_leak')) } as never;
    const broken = await startApi({ cursors });
    const partnerToken = await broken.token(await broken.partner(), ['webhooks:read']);
    const answer = await broken.send('GET', `${PATH}?cursor=aaaa`, { token: partnerToken });
    expect([answer.status, answer.body.codigo, answer.body.mensagem]).toEqual([500, 'ERRO_INTERNO', 'erro interno']);
    const shown = `${answer.text}${JSON.stringify(broken.lines)}`;
    expect(shown).not.toMatch(/529\.982|whsec_leak/);
    const line = broken.lines.find(({ message }) => message === 'ERRO_INTERNO');
    expect(line?.fields).toMatchObject({ requisicao_id: answer.body.requisicao_id, error: 'Error', route: PATH });
    expect(line?.fields['stack']).toEqual(expect.arrayContaining([expect.stringMatching(/^at /)]));
  });
});

describe('health', () => {
  test('/healthz and /readyz answer 200 without a token', async () => {
    expect((await api.send('GET', '/healthz')).status).toBe(200);
    expect((await api.send('GET', '/readyz')).status).toBe(200);
  });

  test.each([
    ['a problem, which it names', async () => 'faltam 3 migrações', 'faltam 3 migrações'],
    ['an outage', async () => Promise.reject(new DatabaseUnavailable('whsec_leak')), 'o banco de dados não responde'],
  ])('/readyz is 503 for %s, while /healthz is 200', async (_name, ready, reason) => {
    const broken = await startApi({ ready });
    const answer = await broken.send('GET', '/readyz');
    expect([answer.status, answer.body.codigo]).toEqual([503, 'INDISPONIVEL']);
    expect(answer.body.mensagem).toBe(reason);
    expect(answer.text).not.toContain('whsec');
    expect((await broken.send('GET', '/healthz')).status).toBe(200);
    const reported = broken.lines.filter(({ message }) => message === 'request');
    expect(reported.map(({ level, fields }) => [fields['route'], level])).toEqual([
      ['/readyz', 'debug'],
      ['/healthz', 'debug'],
    ]);
  });
});

test('a request leaves one line with the route, and neither its query nor its body', async () => {
  api.lines.length = 0;
  const answer = await api.send('POST', `${PATH}?cpf=52998224725`, { token, body: { ...GOOD, nome: 'Maria' } });
  await api.send('GET', '/v1/trabalhadores/52998224725');
  expect(answer.status).toBe(400);
  expect(api.lines.map(({ fields }) => fields['route'])).toEqual([PATH, '-']);
  expect(api.lines[0]?.fields).toEqual({
    method: 'POST',
    route: PATH,
    status: 400,
    duration_ms: expect.any(Number),
    requisicao_id: answer.body.requisicao_id,
    parceiro_id: expect.any(String),
  });
  expect(JSON.stringify(api.lines)).not.toMatch(/52998224725|Maria/);
});
