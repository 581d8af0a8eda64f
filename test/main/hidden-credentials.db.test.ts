/** Credentials of receivers in a running system: what processes store, log, measure, trace, export, archive, prove and answer. */
import { createServer } from 'node:http';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { asyncBufferFromFile } from 'hyparquet';
import { expect, test } from 'vitest';
import { readRows } from '../../src/archive/read-table.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { SCOPES } from '../../src/contract/statuses.ts';
import { backdateSeals } from '../support/backdated-seals.ts';
import { makeAuthority } from '../support/certificates.ts';
import { callCommand, sandboxOn, startServing } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { listening } from '../support/listening.ts';
import { commitEvents } from '../support/outbox.ts';
import { createVisitor } from '../support/painel.ts';
import { startReceiver } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const own = makeAuthority().issue(['webhook.carteiro.test']);
const [KEY, PASSWORD, BEARER, CLIENT_SECRET, TOKEN] = [
  'chave-7f3a91"\\xyz',
  's3nha ç/c41b',
  'portador+e77d02==',
  'segredo do cliente 9b1f',
  'acesso.41dd0a.97',
];
const SECRETS = [KEY, PASSWORD, BEARER, CLIENT_SECRET, TOKEN, own.key.split('\n')[3] as string];

/** All that a secret may look like in a text. */
const FORMS = SECRETS.flatMap((secret) => {
  const bytes = Buffer.from(secret);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    new URLSearchParams({ a: secret }).toString().slice(2),
    secret.replaceAll('"', '&quot;'),
    bytes.toString('base64').replace(/=+$/, ''),
    Buffer.from(`carteiro:${secret}`).toString('base64').replace(/=+$/, ''),
    bytes.toString('hex'),
  ];
});

/** What has been read, by where it was. */
const read = new Map<string, string>();
const keep = (where: string, text: string) => void read.set(`${where} #${read.size}`, text);

const database = await createTestDatabase();
const { sql } = database;
const folder = await makeTestFolder();
const at = (...parts: string[]) => path.join(folder.path, ...parts);
await mkdir(at('data'));

const collector = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    keep('traces', Buffer.concat(parts).toString());
    response.end('{}');
  });
});
const env = {
  ...sandboxOn(database.url),
  DATA_DIR: at('data'),
  LOG_LEVEL: 'debug',
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await listening(collector)}`,
};

/** Gives back, in each form, what it was shown: in fields and in its body, which is cut in the middle of one. */
const receiver = await startReceiver();
receiver.answerWith(({ headers }, response) => {
  const scheme = (headers.authorization ?? '').replace(/^\w+ /, '');
  const decoded = Buffer.from(scheme, 'base64').toString().replace('carteiro:', '');
  const shown = [headers['x-api-key'], headers.authorization, scheme, decoded].map((one) => String(one ?? ''));
  const forms = shown.flatMap((one) => [
    one,
    JSON.stringify(one),
    encodeURIComponent(one),
    Buffer.from(one).toString('hex'),
  ]);
  const text = forms.join('\n');
  response.writeHead(401, {
    'x-echo': encodeURIComponent(shown.join()),
    'www-authenticate': `Basic realm="${scheme}"`,
  });
  response.end(`${text}${'.'.repeat(8_186 - Buffer.byteLength(text))}${shown[0] || scheme}${'.'.repeat(9_000)}`);
});
const issuer = await startReceiver();
let gives: object = { access_token: TOKEN, expires_in: 3_600 };
issuer.answerWith(({ body }, response) => {
  response.writeHead('error' in gives ? 401 : 200, { 'x-echo': encodeURIComponent(body.toString()) });
  response.end(JSON.stringify(gives));
});

test('no table, log, metric, trace, export, archive, proof, page or answer has a secret', async () => {
  const [api, poller] = [await startServing('api', env), await startServing('poll', env)];
  const command = async (...words: string[]) => {
    const { stdout, stderr } = await callCommand(words, env);
    keep(words.join(' '), stdout + stderr);
    return stdout.trim();
  };
  const { id: partnerId } = JSON.parse(await command('partner', 'create', '--name', 'Banco', '--json')) as {
    id: string;
  };
  const isOf = (scope: string) => /^(auditoria|operador|nucleo)/.test(scope);
  const tokenOf = async (...words: string[]) => (await callCommand(['token', ...words], env)).stdout.trim();
  const partner = await tokenOf('--partner', partnerId, '--scope', SCOPES.filter((one) => !isOf(one)).join(' '));
  const others = await Promise.all(SCOPES.filter(isOf).map((scope) => tokenOf('--scope', scope)));
  const ask = async (token: string, method: string, to: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(api.url + to, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    keep(`${method} ${to}`, JSON.stringify([...answer.headers]) + text);
    return { status: answer.status, text };
  };

  const authorizations = [
    { tipo: 'basic', usuario: 'carteiro', senha: PASSWORD },
    { tipo: 'bearer', token: BEARER },
    { tipo: 'oauth2', token_url: `${issuer.url}/token`, client_id: 'c', client_secret: CLIENT_SECRET, envio: 'corpo' },
    { tipo: 'oauth2', token_url: `${issuer.url}/token`, client_id: 'd', client_secret: CLIENT_SECRET, envio: 'basic' },
  ];
  const ids = [partnerId];
  for (const [index, autorizacao] of authorizations.entries()) {
    const wanted = { url: `${receiver.url}/${index}`, eventos: ['desembolso.falhou'] };
    const { id } = JSON.parse((await ask(partner, 'POST', '/v1/webhooks', wanted)).text) as { id: string };
    ids.push(id);
    const given = {
      autorizacao,
      ...(index === 0 && { cabecalhos: { 'X-Api-Key': KEY }, certificado: { pem: own.cert, chave_pem: own.key } }),
    };
    expect((await ask(partner, 'PUT', `/v1/webhooks/${id}/credenciais`, given)).status).toBe(200);
    // Refused, for a secret that is wrong in one sign.
    for (const bad of [
      { cabecalhos: { 'X-Api-Key': `${KEY}\n` } },
      { cabecalhos: { Host: KEY } },
      { autorizacao: { ...autorizacao, tipo: 'outro' } },
      { autorizacao: { tipo: 'bearer', token: `${BEARER} ` } },
      { autorizacao: { tipo: 'basic', usuario: 'a:b', senha: PASSWORD } },
      { certificado: { pem: own.key, chave_pem: own.key } },
      { token: CLIENT_SECRET },
    ])
      expect((await ask(partner, 'PUT', `/v1/webhooks/${id}/credenciais`, bad)).status).toBe(400);
  }
  const attempted = async (count: number) => {
    while ((await sql`select from attempts`).length < count) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  await commitEvents(sql, partnerId, 1);
  await attempted(4);
  gives = { error: CLIENT_SECRET, error_description: CLIENT_SECRET };
  await sql`update deliveries set next_attempt_at = now() where status = 'pendente'`;
  await attempted(8);
  const rows = await sql<{ outcome: string; answer: string | null }[]>`select outcome, answer from attempts`;
  expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(['resposta_nao_2xx', 'erro_autorizacao']));
  expect(rows.some(({ answer }) => (answer ?? '').includes('***********'))).toBe(true);
  await untilSettled(sql);
  await sealAll(database.pool);

  // Answers: every GET of the description, with each id, by each kind of token.
  const named = await sql<{ id: string }[]>`
    select id from deliveries union select event_id from deliveries union select stream from events`;
  ids.push(...named.map(({ id }) => id));
  const { paths } = JSON.parse((await ask(partner, 'GET', '/openapi.json?para=tudo')).text) as {
    paths: Record<string, object>;
  };
  const period = '?de=2026-01-01&ate=2026-01-31';
  for (const [to, methods] of Object.entries(paths)) {
    if (!('get' in methods) || /ao-vivo|saude$/.test(to)) continue;
    for (const token of [partner, ...others]) {
      for (const id of to.includes('{') ? ids : ['']) {
        const { status } = await ask(token, 'GET', to.replace(/\{\w+\}/, id) + (/balanco/.test(to) ? period : ''));
        // Its scope is too small, whatever the id.
        if (status === 403) break;
      }
    }
  }
  for (const name of ['entregas', 'tentativas', 'eventos', 'webhooks', 'pedidos'])
    for (const format of ['csv', 'ndjson', 'parquet'])
      for (const token of others) await ask(token, 'GET', `/v1/auditoria/${name}?formato=${format}`);
  const visitor = createVisitor(api.url);
  await visitor.signIn(partner);
  for (const id of ids)
    for (const page of ['webhooks', 'entregas', 'eventos'])
      keep(`/painel/${page}/${id}`, (await visitor.get(`/painel/${page}/${id}`)).text);
  for (const page of ['visao', 'webhooks', 'entregas', 'avisos'])
    keep(page, (await visitor.get(`/painel/${page}`)).text);

  for (const id of ids) {
    for (const words of [
      ['webhook', 'show'],
      ['delivery', 'show'],
      ['queue', 'explain'],
      ['audit', 'proof'],
      ['partner', 'show'],
    ])
      await command(...words, id);
  }
  await command('webhook', 'list');
  await command('doctor', '--json');
  for (const { url } of [api, poller]) keep('metrics', await (await fetch(new URL('/metrics', url))).text());
  for (const running of [api, poller]) keep('log', (await running.end('SIGTERM')).stderr);

  await untilSettled(sql);
  await sealAll(database.pool);
  await backdateSeals(database.pool, new Date('2026-01-20T12:00:00Z'));
  await command('archive', '2026-01', '--to', at('archive'));
  for (const name of await readdir(at('archive'), { recursive: true })) {
    if (!/\.\w+$/.test(name)) continue;
    keep(name, (await readFile(at('archive', name))).toString('latin1'));
    if (!name.endsWith('.parquet')) continue;
    const { rows: archived } = await readRows(await asyncBufferFromFile(at('archive', name)));
    const text = (_key: string, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value instanceof Uint8Array ? Buffer.from(value).toString() : value;
    keep(
      name,
      archived
        .map((row) =>
          Object.values(row)
            .map((value) => text('', value))
            .join(),
        )
        .join('\n'),
    );
  }
  const tables = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c where c.relnamespace = 'carteiro'::regnamespace and c.relkind in ('r', 'p')`;
  for (const { name } of tables) {
    const stored = await sql<{ text: string }[]>`select t::text as text from ${sql(name)} t`;
    keep(`table ${name}`, stored.map(({ text }) => text).join('\n'));
  }

  for (const kind of ['traces', 'log', 'metrics', 'table attempts', 'archive 2026-01', 'audit proof'])
    expect([kind, [...read.keys()].some((where) => where.startsWith(kind))]).toEqual([kind, true]);
  expect([...read.keys()].filter((where) => where.includes('.parquet')).length).toBeGreaterThan(5);
  expect([...read.entries()].find(([where]) => where.startsWith('archive 2026-01'))?.[1]).not.toContain('carteiro:');
  const found = [...read].flatMap(([where, text]) =>
    FORMS.filter((form) => text.includes(form)).map((form) => `${where} has ${form}`),
  );
  expect(found).toEqual([]);
});
