/** What a receiver's gateway demands: set by its partner, sent with each POST, and shown to nobody. */
import { beforeAll, expect, test } from 'vitest';
import { credentialsName, openCredentials } from '../../src/webhooks/gateway/credentials.ts';
import type { ShownCredentials } from '../../src/contract/resources/webhook-credentials.ts';
import { TOKEN_MS } from '../../src/delivery/sending/tokens.ts';
import { makeAuthority } from '../support/certificates.ts';
import { startDeliveryWorld, startEngineOf, useSubscriber } from '../support/delivery-world.ts';
import { hang, startReceiver, status } from '../support/receiver.ts';

const world = await startDeliveryWorld();
const { partner, webhook } = useSubscriber(world);
const own = makeAuthority().issue(['webhook.carteiro.test']);
const SECRETS = [
  'chave-7f3a91',
  's3nha-c41b',
  'token-e77d02',
  'cliente-9b1f',
  own.key.split('\n')[1] as string,
] as const;
const [KEY, PASSWORD, TOKEN, CLIENT_SECRET] = SECRETS;
const issuer = await startReceiver();

const path = () => `/v1/webhooks/${webhook.id}/credenciais`;
const set = (body: unknown) => partner.send<ShownCredentials>('PUT', path(), body);
const oauth2 = () => ({
  tipo: 'oauth2',
  token_url: `${issuer.url}/token`,
  client_id: 'carteiro',
  client_secret: CLIENT_SECRET,
  envio: 'corpo',
});
const givesToken = (body: unknown, code = 200) => issuer.answerWith(status(code, JSON.stringify(body)));

beforeAll(() => givesToken({ access_token: TOKEN, token_type: 'Bearer', expires_in: 3_600 }));

async function deliverOne() {
  await partner.emit();
  await world.deliver();
  const { itens } = (await partner.send<{ itens: { id: string }[] }>('GET', '/v1/entregas')).body;
  return partner.read(itens[0]?.id ?? '');
}

test('headers, user and password are sent, and answered by their names alone', async () => {
  const shown = { cabecalhos: ['X-Api-Key'], autorizacao: { tipo: 'basic' }, certificado: null };
  const autorizacao = { tipo: 'basic', usuario: 'carteiro', senha: PASSWORD };
  expect(await set({ cabecalhos: { 'X-Api-Key': KEY }, autorizacao })).toMatchObject({ status: 200, body: shown });
  expect((await partner.send('GET', path())).body).toEqual(shown);
  await deliverOne();
  const [post] = world.postsTo(webhook.path);
  expect(post?.headers).toMatchObject({
    'x-api-key': KEY,
    authorization: `Basic ${Buffer.from(`carteiro:${PASSWORD}`).toString('base64')}`,
  });
  expect((await partner.send('DELETE', path())).status).toBe(204);
  expect((await partner.send('GET', path())).body).toEqual({ cabecalhos: [], autorizacao: null, certificado: null });
  await deliverOne();
  expect(world.postsTo(webhook.path)[1]?.headers).not.toHaveProperty('x-api-key');
});

test('a certificate is shown by its names, its end and its digest', async () => {
  const { body } = await set({ certificado: { pem: own.cert, chave_pem: own.key } });
  expect(body.certificado).toMatchObject({ assunto: 'CN=webhook.carteiro.test' });
  expect(body.certificado?.sha256).toMatch(/^[0-9a-f]{64}$/);
});

test('a token is asked for once, and anew after a 401', async () => {
  await set({ autorizacao: oauth2() });
  const before = issuer.posts.length;
  await deliverOne();
  await deliverOne();
  expect(issuer.posts.length - before).toBe(1);
  expect(String(issuer.posts.at(-1)?.body)).toBe(
    `grant_type=client_credentials&client_id=carteiro&client_secret=${CLIENT_SECRET}`,
  );
  expect(world.postsTo(webhook.path).at(-1)?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  world.receiver.answerWith(status(401), webhook.path);
  await deliverOne();
  await deliverOne();
  expect(issuer.posts.length - before).toBe(2);
});

test.each<[string, number, unknown, RegExp]>([
  ['refuses', 400, { error: 'invalid_client', secret: TOKEN }, /^TOKEN: .* respondeu 400 \(invalid_client\)$/],
  ['answers HTML', 200, '<html>', /não tem access_token$/],
  ['redirects', 302, {}, /respondeu 302$/],
  ['gives an expired token', 200, { access_token: TOKEN, expires_in: 0 }, /token vencido$/],
  ['gives a token of 20 KB', 200, { access_token: 'a'.repeat(20_000) }, /passa de 8 KiB$/],
  ['gives a token of 10 MB', 200, { access_token: 'a'.repeat(10_000_000) }, /não tem access_token$/],
])(
  'a token server that %s costs its webhook an attempt without a POST, with its reason',
  async (_what, code, body, reason) => {
    givesToken(body, code);
    await set({ autorizacao: { ...oauth2(), client_id: `carteiro-${_what}` } });
    const { id, tentativas } = await deliverOne();
    expect(tentativas).toMatchObject([{ resultado: 'erro_autorizacao', status_http: null, cabecalhos: [] }]);
    expect(tentativas[0]?.erro).toMatch(reason);
    expect(world.postsTo(webhook.path)).toEqual([]);
    expect((await partner.send('GET', `/v1/entregas/${id}/espera`)).body).toMatchObject({ motivo: 'sem_autorizacao' });
    givesToken({ access_token: TOKEN, expires_in: 3_600 });
  },
);

const ancient = makeAuthority().issue(['a'], Date.parse('0000-06-01T00:00:00Z'));
/** Where its times stand is no time. */
const endless = own.cert.replace(/(?<=-\n).*?(?=\n-)/s, (text) => {
  const bytes = Buffer.from(text, 'base64').toString('latin1');
  return Buffer.from(bytes.replaceAll(/\d{14}(?=Z)/g, 'x'.repeat(14)), 'latin1').toString('base64');
});

test.each<[string, unknown, string]>([
  ['no field', {}, ''],
  ['five headers', { cabecalhos: { A: '1', B: '1', C: '1', D: '1', E: '1' } }, 'cabecalhos'],
  ['a header of ours', { cabecalhos: { 'x-webhook-EVENT': '1' } }, 'cabecalhos'],
  ['Host', { cabecalhos: { Host: 'a' } }, 'cabecalhos'],
  ['a line break', { cabecalhos: { A: 'a\r\nB: c' } }, 'cabecalhos'],
  ['a name that objects have', { cabecalhos: JSON.parse('{"__proto__":"a"}') as object }, 'cabecalhos.__proto__'],
  [
    'a key of another certificate',
    { certificado: { pem: own.cert, chave_pem: makeAuthority().issue(['a']).key } },
    'certificado',
  ],
  ['a certificate of the year 0', { certificado: { pem: ancient.cert, chave_pem: ancient.key } }, 'certificado.pem'],
  ['a certificate without an end', { certificado: { pem: endless, chave_pem: own.key } }, 'certificado.pem'],
  ['a token server that is no target', { autorizacao: { tipo: 'oauth2', token_url: 'ftp://a' } }, 'autorizacao'],
])('%s is refused by its name', async (_what, body, field) => {
  const { status: code, body: answer } = await partner.send('PUT', path(), body);
  expect(code).toBe(400);
  expect(JSON.stringify(answer)).toContain(field);
  expect(JSON.stringify(answer)).not.toContain('PRIVATE');
});

test('history tells that they changed, and not what they are', async () => {
  await set({ cabecalhos: { 'X-Api-Key': KEY } });
  await set({ autorizacao: { tipo: 'bearer', token: TOKEN } });
  await partner.send('DELETE', path());
  const { itens } = (
    await partner.send<{ itens: { mudanca: string }[] }>('GET', `/v1/webhooks/${webhook.id}/historico`)
  ).body;
  const changes = itens.map(({ mudanca }) => mudanca);
  expect(changes.slice(0, 3)).toEqual(['fim_das_credenciais', 'credenciais', 'credenciais']);
});

const statuses = async (webhookId: string) =>
  world.api.database.sql`select status, count(*)::int from deliveries where webhook_id = ${webhookId} group by status`;

test('a token server that hangs holds back its own webhook alone', async () => {
  const second = await partner.register();
  issuer.answerWith(hang());
  await set({ autorizacao: { ...oauth2(), client_id: 'carteiro-hangs' } });
  for (let count = 0; count < 12; count += 1) await partner.emit();
  const asked = issuer.posts.length;
  let skippedMs = 0;
  const { poller } = startEngineOf(world.api, { monotonicMs: () => performance.now() + skippedMs });
  while ((await statuses(second.id)).some(({ status: one }) => one !== 'entregue')) await poller.tick();
  expect(await statuses(second.id)).toEqual([{ status: 'entregue', count: 12 }]);
  await issuer.received(asked + 1);
  expect([world.postsTo(webhook.path).length, issuer.posts.length - asked]).toEqual([0, 1]);
  expect(await statuses(webhook.id)).toEqual([{ status: 'pendente', count: 12 }]);
  skippedMs = TOKEN_MS;
  await poller.settled();
  const ended = await world.api.database.sql`
    select distinct outcome, error from attempts where webhook_id = ${webhook.id}`;
  expect(ended).toEqual([
    {
      outcome: 'erro_autorizacao',
      error: 'TOKEN: o servidor de token não respondeu (TEMPO_ESGOTADO: sem resposta em 10000 ms)',
    },
  ]);
  givesToken({ access_token: TOKEN, expires_in: 3_600 });
});

test('a rotation of a key or of a client’s secret loses nothing, whichever side changes first', async () => {
  const { sql } = world.api.database;
  let taken = '';
  world.receiver.answerWith(({ headers }, response) => {
    const shown = headers['x-api-key'] ?? headers.authorization;
    response.writeHead(shown === taken ? 204 : 401).end();
  }, webhook.path);
  issuer.answerWith(({ body }, response) => {
    const secret = new URLSearchParams(body.toString()).get('client_secret') ?? '';
    const isOld = `Bearer t-${secret}` !== taken;
    response
      .writeHead(isOld ? 401 : 200)
      .end(JSON.stringify(isOld ? { error: 'invalid_client' } : { access_token: `t-${secret}`, expires_in: 3_600 }));
  });
  const key = (value: string) => ({ body: { cabecalhos: { 'X-Api-Key': value } }, taken: value });
  const client = (secret: string) => ({
    body: { autorizacao: { ...oauth2(), client_secret: secret } },
    taken: `Bearer t-${secret}`,
  });
  const emitAndSend = async () => {
    await partner.emit();
    await world.deliver();
  };
  for (const next of [key('um'), key('dois'), client('um'), client('dois'), key('quatro')]) {
    // The gateway changes first, then we do.
    taken = next.taken;
    await emitAndSend();
    await set(next.body);
    await emitAndSend();
    // We change first.
    taken = 'a gateway that lags';
    await emitAndSend();
    taken = next.taken;
    await emitAndSend();
  }
  expect(await statuses(webhook.id)).toContainEqual({ status: 'pendente', count: expect.any(Number) as number });
  await sql`update deliveries set next_attempt_at = now() where webhook_id = ${webhook.id} and status = 'pendente'`;
  await world.deliver();
  expect(await statuses(webhook.id)).toEqual([{ status: 'entregue', count: 20 }]);
  givesToken({ access_token: TOKEN, expires_in: 3_600 });
});

test('what is stored opens for its webhook alone, and not as a secret', async () => {
  await set({ cabecalhos: { A: '1' } });
  const [row] = await world.api.database.sql<[{ blob: Buffer }]>`
    select encrypted_credentials as blob from webhooks where id = ${webhook.id}`;
  expect(openCredentials(world.api.vault, webhook.id, row.blob)).toEqual({ cabecalhos: { A: '1' } });
  expect(() => world.api.vault.decrypt(webhook.id, row.blob)).toThrow('was altered or belongs to another');
  expect(world.api.vault.decrypt(credentialsName(webhook.id), row.blob).secret).toContain('"A":"1"');
});
