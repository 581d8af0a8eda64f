import { describe, expect, test } from 'vitest';
import { EMITTED_NAMES, NOTICE_NAMES, SUBSCRIBABLE_NAMES } from '../../src/contract/events.ts';
import { startApi } from '../support/api.ts';

interface Created {
  readonly id: string;
  readonly url: string;
  readonly eventos: readonly string[];
  readonly ativo: boolean;
  readonly criado_em: string;
  readonly secret?: string;
}

const PATH = '/v1/webhooks';
const GOOD = { url: 'https://parceiro.example.com/hooks', eventos: ['averbacao.concluida', 'assinatura.concluida'] };
const api = await startApi();

async function partnerWithToken() {
  const partnerId = await api.partner();
  return { partnerId, token: await api.token(partnerId, ['webhooks:read', 'webhooks:write']) };
}

describe('creating a webhook', () => {
  test('answers 201 with the webhook and its secret, which no later answer holds', async () => {
    const { token } = await partnerWithToken();
    const created = await api.send<Created>('POST', PATH, { token, body: GOOD });
    expect(created.status).toBe(201);
    expect(Object.keys(created.body)).toEqual(['id', 'url', 'eventos', 'ativo', 'criado_em', 'secret']);
    const { secret, ...webhook } = created.body;
    expect(webhook).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      ...GOOD,
      ativo: true,
      criado_em: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);

    const listed = await api.send<Created[]>('GET', PATH, { token });
    expect(listed.status).toBe(200);
    expect(listed.body).toEqual([webhook]);
  });

  test('leaves the secret encrypted in the row and nowhere else in the database or the log', async () => {
    const { token, partnerId } = await partnerWithToken();
    const headers = { 'Idempotency-Key': 'encrypted' };
    const { body } = await api.send<Created>('POST', PATH, { token, headers, body: GOOD });
    const secret = body.secret as string;
    const [row] = await api.database.sql`
      select encrypted_secret, w::text as shown, (select string_agg(h::text, '') from webhook_history h) as history,
             (select string_agg(k::text, '') from idempotency_keys k) as keys
      from webhooks w where id = ${body.id} and partner_id = ${partnerId}`;
    const everything = [row?.['encrypted_secret'].toString('latin1'), row?.['shown'], row?.['history'], row?.['keys']];
    const hex = Buffer.from(secret).toString('hex');
    expect(everything.every((text) => typeof text === 'string' && text.length > 0)).toBe(true);
    expect(everything.join('')).not.toContain(secret.slice(6, 20));
    expect(everything.join('')).not.toContain(hex.slice(12, 32));
    expect(JSON.stringify(api.lines)).not.toContain(secret.slice(6, 20));
    expect(api.vault.decrypt(body.id, row?.['encrypted_secret']).secret).toBe(secret);
  });

  test('writes the first line of its history, with the actor and the request', async () => {
    const { token, partnerId } = await partnerWithToken();
    const { body, headers } = await api.send<Created>('POST', PATH, { token, body: GOOD });
    const rows = await api.database.sql`
      select partner_id, url, events, active, actor, request_id, changed_at from webhook_history where webhook_id = ${body.id}`;
    expect(rows).toEqual([
      {
        partner_id: partnerId,
        url: GOOD.url,
        events: GOOD.eventos,
        active: true,
        actor: partnerId,
        request_id: headers.get('X-Request-Id'),
        changed_at: new Date(body.criado_em),
      },
    ]);
  });

  test('keeps the order of the events, takes every emitted one, and normalises the URL', async () => {
    const { token } = await partnerWithToken();
    const eventos = EMITTED_NAMES.toReversed();
    const { status, body } = await api.send<Created>('POST', PATH, {
      token,
      body: { url: 'HTTPS://Parceiro.Example.com:443/a/../b?x=1', eventos },
    });
    expect(status).toBe(201);
    expect(body.eventos).toEqual(eventos);
    expect(body.url).toBe('https://parceiro.example.com/b?x=1');
  });

  test('takes the two notices beside them', async () => {
    const { token } = await partnerWithToken();
    expect(NOTICE_NAMES).toEqual(['webhook.falhando', 'webhook.suspenso', 'webhook.atraso', 'webhook.erro']);
    const answer = await api.send<Created>('POST', PATH, { token, body: { ...GOOD, eventos: SUBSCRIBABLE_NAMES } });
    expect(answer.status).toBe(201);
    expect(answer.body.eventos).toEqual(SUBSCRIBABLE_NAMES);
  });

  test('may repeat a URL', async () => {
    const { token } = await partnerWithToken();
    const [first, second] = [
      await api.send<Created>('POST', PATH, { token, body: GOOD }),
      await api.send<Created>('POST', PATH, { token, body: GOOD }),
    ];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.body.secret).not.toBe(second.body.secret);
  });
});

describe('what creation refuses with 400', () => {
  const { url, eventos } = GOOD;
  const cases: readonly [string, unknown, readonly string[]][] = [
    ['an empty object', {}, ['url', 'eventos']],
    ['an array', [], ['corpo']],
    ['null', null, ['corpo']],
    ['a text', '"x"', ['corpo']],
    ['no url', { eventos }, ['url']],
    ['a url that is no text', { url: 1, eventos }, ['url']],
    ['an empty url', { url: '', eventos }, ['url']],
    ['a relative url', { url: '/hooks', eventos }, ['url']],
    ['an http url', { url: 'http://parceiro.example.com/', eventos }, ['url']],
    ['another scheme', { url: 'ftp://parceiro.example.com/', eventos }, ['url']],
    ['user info', { url: 'https://a:b@parceiro.example.com/', eventos }, ['url']],
    ['a fragment', { url: 'https://parceiro.example.com/#x', eventos }, ['url']],
    ['port 0', { url: 'https://parceiro.example.com:0/', eventos }, ['url']],
    ['localhost', { url: 'https://localhost/', eventos }, ['url']],
    ['a local name', { url: 'https://a.internal/', eventos }, ['url']],
    ['a single label', { url: 'https://intranet/', eventos }, ['url']],
    ['a loopback address', { url: 'https://127.0.0.1/', eventos }, ['url']],
    ['a private address', { url: 'https://10.0.0.1/', eventos }, ['url']],
    ['the metadata address', { url: 'https://169.254.169.254/latest', eventos }, ['url']],
    ['a mapped loopback address', { url: 'https://[::ffff:127.0.0.1]/', eventos }, ['url']],
    ['a url of 2,049 characters', { url: `https://a.example.com/${'x'.repeat(2_027)}`, eventos }, ['url']],
    ['no events', { url }, ['eventos']],
    ['events that are no list', { url, eventos: 'averbacao.concluida' }, ['eventos']],
    ['an empty list', { url, eventos: [] }, ['eventos']],
    ['an unknown name', { url, eventos: [eventos[0], 'nada.aconteceu'] }, ['eventos[1]']],
    ['a name that is no text', { url, eventos: [7, null] }, ['eventos[0]', 'eventos[1]']],
    ['an internal name', { url, eventos: ['emprestimo.contratado'] }, ['eventos[0]']],
    ['a reserved name', { url, eventos: [eventos[0], 'repasse.pago'] }, ['eventos[1]']],
    ['a repeated name', { url, eventos: [eventos[0], eventos[1], eventos[0]] }, ['eventos[2]']],
    ['more names than there are', { url, eventos: [...SUBSCRIBABLE_NAMES, EMITTED_NAMES[0]] }, ['eventos']],
    ['unknown fields, each of them', { ...GOOD, ativo: true, secret: 'x' }, ['ativo', 'secret']],
    ['a field named __proto__', `{"url":"${url}","eventos":["${eventos[0]}"],"__proto__":1}`, ['__proto__']],
    ['faults in both fields', { url: 'x', eventos: ['y'] }, ['url', 'eventos[0]']],
  ];

  test.each(cases)('%s', async (_name, body, fields) => {
    const { token } = await partnerWithToken();
    const answer = await api.send('POST', PATH, { token, body });
    expect(answer.status).toBe(400);
    expect(answer.body.codigo).toBe('ERRO_VALIDACAO');
    expect(answer.body.detalhes?.map(({ campo }) => campo).toSorted()).toEqual(fields.toSorted());
    expect(answer.body.detalhes?.every(({ mensagem }) => mensagem.length > 3)).toBe(true);
    expect(answer.body.requisicao_id).toBe(answer.headers.get('X-Request-Id'));
    expect(answer.headers.get('Content-Type')).toMatch(/^application\/json/);
  });

  test.each(['repasse.pago', 'autorizacao.expirada'])('%s is told to be reserved', async (name) => {
    const { token } = await partnerWithToken();
    const answer = await api.send('POST', PATH, { token, body: { ...GOOD, eventos: [name] } });
    expect(answer.body.detalhes).toEqual([
      { campo: 'eventos[0]', mensagem: `${name} é um nome reservado, nunca emitido` },
    ]);
  });

  test.each([
    ['a missing field', {}, ['é obrigatório', 'é obrigatório']],
    ['a wrong type', { url: 1, eventos: 'x' }, ['deve ser um texto', 'deve ser uma lista']],
  ])('%s is explained in Portuguese', async (_name, body, messages) => {
    const { token } = await partnerWithToken();
    const answer = await api.send('POST', PATH, { token, body });
    expect(answer.body.detalhes?.map(({ mensagem }) => mensagem)).toEqual(messages);
  });

  test('a sandbox that allows insecure targets takes http and loopback', async () => {
    const lenient = await startApi({ allowInsecure: true });
    const token = await lenient.token(await lenient.partner(), ['webhooks:write']);
    const body = { ...GOOD, url: 'http://127.0.0.1:9999/hooks' };
    expect((await lenient.send('POST', PATH, { token, body })).status).toBe(201);
  });
});

describe('the limit of active webhooks', () => {
  test('is 50, also when creations arrive together, and deactivated ones do not count', async () => {
    const { token, partnerId } = await partnerWithToken();
    const creations = Array.from({ length: 60 }, () => api.send<Created>('POST', PATH, { token, body: GOOD }));
    const statuses = (await Promise.all(creations)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(50);
    expect(statuses.filter((status) => status === 409)).toHaveLength(10);

    const refused = await api.send('POST', PATH, { token, headers: { 'Idempotency-Key': 'full' }, body: GOOD });
    expect(refused.body.codigo).toBe('LIMITE_DE_WEBHOOKS');

    const listed = await api.send<Created[]>('GET', PATH, { token });
    expect(listed.body).toHaveLength(50);
    expect(listed.body.map(({ id }) => id)).toEqual(listed.body.map(({ id }) => id).toSorted());

    await api.database.sql`update webhooks set active = false where id = ${listed.body[0]?.id as string}`;
    const again = await api.send<Created>('POST', PATH, { token, headers: { 'Idempotency-Key': 'full' }, body: GOOD });
    expect(again.status).toBe(201);
    const rows = await api.database.sql`select 1 from webhooks where partner_id = ${partnerId} and active`;
    expect(rows).toHaveLength(50);
  });
});

describe('the list', () => {
  test("shows a partner's own active webhooks and no other's, oldest first", async () => {
    const [mine, other] = [await partnerWithToken(), await partnerWithToken()];
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      ids.push((await api.send<Created>('POST', PATH, { token: mine.token, body: GOOD })).body.id);
    }
    await api.send('POST', PATH, { token: other.token, body: GOOD });
    await api.database.sql`update webhooks set active = false where id = ${ids[1] as string}`;
    const listed = await api.send<Created[]>('GET', PATH, { token: mine.token });
    expect(listed.body.map(({ id }) => id)).toEqual([ids[0], ids[2]]);
    expect(listed.text).not.toContain('secret');
  });

  test('is an empty array for a partner without webhooks', async () => {
    const { token } = await partnerWithToken();
    expect((await api.send('GET', PATH, { token })).body).toEqual([]);
  });
});

describe('an Idempotency-Key on creation', () => {
  const headers = { 'Idempotency-Key': 'key-1' };

  test('answers a replay with the same webhook, without the secret', async () => {
    const { token } = await partnerWithToken();
    const first = await api.send<Created>('POST', PATH, { token, headers, body: GOOD });
    const replay = await api.send<Created>('POST', PATH, { token, headers, body: GOOD });
    const { secret, ...webhook } = first.body;
    expect(secret).toBeDefined();
    expect(replay.status).toBe(201);
    expect(replay.body).toEqual(webhook);
    expect((await api.send<Created[]>('GET', PATH, { token })).body).toHaveLength(1);
  });

  test('makes one webhook of requests that arrive together, and shows the secret once', async () => {
    const { token } = await partnerWithToken();
    const sent = Array.from({ length: 8 }, () => api.send<Created>('POST', PATH, { token, headers, body: GOOD }));
    const answers = await Promise.all(sent);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.filter(({ body }) => 'secret' in body)).toHaveLength(1);
  });

  test.each(['', 'x'.repeat(256), 'ação'])('is refused when it is %j', async (key) => {
    const { token } = await partnerWithToken();
    const answer = await api.send('POST', PATH, { token, headers: { 'Idempotency-Key': key }, body: GOOD });
    expect(answer.status).toBe(400);
    expect(answer.body.detalhes?.map(({ campo }) => campo)).toEqual(['Idempotency-Key']);
  });
});
