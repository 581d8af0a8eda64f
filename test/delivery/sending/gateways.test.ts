/** Gateways that nobody here wrote, each set up as its own manual says, before a receiver of ours: what they demand is sent. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { TEST_NAME, testData } from '../../../src/contract/delivery.ts';
import { EVENT_EXAMPLES } from '../../../src/contract/event-examples.ts';
import { SUBSCRIBABLE_NAMES } from '../../../src/contract/events.ts';
import type { WebhookCredentials } from '../../../src/contract/resources/webhook-credentials.ts';
import { prepareCredentials } from '../../../src/delivery/sending/credentials.ts';
import { createSender } from '../../../src/delivery/sending/send.ts';
import { makeAuthority } from '../../support/certificates.ts';
import { freePorts } from '../../support/free-ports.ts';
import { listening } from '../../support/listening.ts';
import { startReceiver } from '../../support/receiver.ts';
import { isThere } from '../../support/snippets.ts';
import { makeTestFolder } from '../../support/test-folder.ts';

const authority = makeAuthority();
const client = makeAuthority();
const own = client.issue(['webhook.carteiro.test']);
const folder = await makeTestFolder();
const [port = 0] = await freePorts(1);
const running: ChildProcess[] = [];
const receiver = await startReceiver();
const KEY = 'chave-do-gateway-7f3a';

await chmod(folder.path, 0o755);
const file = (name: string) => join(folder.path, name);
const put = (name: string, text: string) => writeFile(file(name), text, { mode: 0o644 });
const issued = authority.issue(['localhost']);
await Promise.all([
  put('cert.pem', issued.cert),
  put('key.pem', issued.key),
  put('both.pem', issued.cert + issued.key),
  put('client-ca.pem', client.ca),
]);

async function stop(): Promise<void> {
  for (const gateway of running.splice(0)) {
    const ended = new Promise((resolve) => gateway.once('exit', resolve));
    gateway.kill('SIGTERM');
    await ended;
  }
}
afterEach(stop);
afterAll(stop);

function isOpen(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function start(program: string, ...args: string[]): Promise<void> {
  // A group of its own: Apache ends its whole group.
  const gateway = spawn(program, args, { stdio: 'ignore', detached: true });
  running.push(gateway);
  await vi.waitFor(
    async () => {
      if (gateway.exitCode !== null) throw new Error(`${program} ended with ${gateway.exitCode}`);
      expect(await isOpen()).toBe(true);
    },
    { timeout: 300_000, interval: 50 },
  );
}

/** What an event's POST looks like, through the gateway. */
const TEST_BODY = `{"evento":"${TEST_NAME}","timestamp":"2026-01-31T12:00:00.000Z","data":${testData(crypto.randomUUID())}}`;

async function post(given: WebhookCredentials | null, text = TEST_BODY) {
  const sender = createSender({ allowInsecure: true, timeoutMs: 120_000, tls: { ca: authority.ca } });
  const body = Buffer.from(text);
  const { accept, ...headers } = { accept: '*/*', 'Content-Type': 'application/json', 'User-Agent': 'Carteiro/0.2.0' };
  const sent = await sender.send({
    url: `https://localhost:${port}/hook`,
    body,
    headers: ['Accept', accept, ...Object.entries(headers).flat()],
    ...(given !== null && { credentials: prepareCredentials(given) }),
  });
  await sender.close();
  return sent;
}

const NGINX = (inServer: string) => `
daemon off; pid ${file('nginx.pid')}; error_log ${file('nginx.log')};
events {}
http {
  access_log off; client_body_temp_path ${file('body')}; proxy_temp_path ${file('proxy')};
  fastcgi_temp_path ${file('fcgi')}; uwsgi_temp_path ${file('uwsgi')}; scgi_temp_path ${file('scgi')};
  server {
    listen 127.0.0.1:${port} ssl; ssl_certificate ${file('cert.pem')}; ssl_certificate_key ${file('key.pem')};
    ${inServer}
    location / { proxy_pass ${receiver.url}; }
  }
}`;

test('nginx with mutual TLS takes the certificate of the webhook, and nothing else', async (context) => {
  if (!(await isThere(['nginx', '-v']))) context.skip('there is no nginx');
  await put('nginx.conf', NGINX(`ssl_client_certificate ${file('client-ca.pem')}; ssl_verify_client on;`));
  await start('nginx', '-c', file('nginx.conf'));
  expect(await post(null)).toMatchObject({ outcome: 'resposta_nao_2xx', statusCode: 400 });
  const certificado = { pem: own.cert, chave_pem: own.key };
  expect(await post({ certificado })).toMatchObject({ outcome: 'entregue', statusCode: 200 });
  // A rotation: the next POST shows the new one.
  const next = client.issue(['webhook.carteiro.test']);
  expect(await post({ certificado: { pem: next.cert, chave_pem: next.key } })).toMatchObject({ outcome: 'entregue' });
});

test('nginx with auth_basic takes user and password', async (context) => {
  if (!(await isThere(['nginx', '-v']))) context.skip('there is no nginx');
  await put('users', `carteiro:{PLAIN}s3nh@ ç\n`);
  await put('nginx.conf', NGINX(`auth_basic carteiro; auth_basic_user_file ${file('users')};`));
  await start('nginx', '-c', file('nginx.conf'));
  const autorizacao = { tipo: 'basic', usuario: 'carteiro', senha: 's3nh@ ç' } as const;
  expect(await post(null)).toMatchObject({ statusCode: 401 });
  expect(await post({ autorizacao: { ...autorizacao, senha: 'outra' } })).toMatchObject({ statusCode: 401 });
  expect(await post({ autorizacao })).toMatchObject({ outcome: 'entregue' });
});

test('HAProxy with an API key takes the header', async (context) => {
  if (!(await isThere(['haproxy', '-v']))) context.skip('there is no haproxy');
  await put(
    'haproxy.cfg',
    `defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend gateway
  bind 127.0.0.1:${port} ssl crt ${file('both.pem')}
  http-request deny deny_status 403 unless { req.hdr(X-Api-Key) -m str ${KEY} }
  default_backend receiver
backend receiver
  server one 127.0.0.1:${receiver.port}
`,
  );
  await start('haproxy', '-db', '-f', file('haproxy.cfg'));
  expect(await post(null)).toMatchObject({ statusCode: 403 });
  expect(await post({ cabecalhos: { 'X-Api-Key': KEY } })).toMatchObject({ outcome: 'entregue' });
});

const MODULES = '/usr/lib/apache2/modules';
const APACHE = (rest: string) => `
ServerRoot ${folder.path}
PidFile ${file('apache.pid')}
ServerName localhost
ErrorLog ${file('apache.log')}
User www-data
Group www-data
LoadModule mpm_prefork_module ${MODULES}/mod_mpm_prefork.so
LoadModule authz_core_module ${MODULES}/mod_authz_core.so
LoadModule alias_module ${MODULES}/mod_alias.so
${rest}
`;

test('Apache with ModSecurity and the Core Rule Set at paranoia 2 lets a test and every event through', async (context) => {
  if (
    !(await isThere(['test', '-e', `${MODULES}/mod_security2.so`])) ||
    !(await isThere(['test', '-e', '/usr/share/modsecurity-crs/rules']))
  )
    context.skip('there is no Apache with ModSecurity and its Core Rule Set');
  await put(
    'apache.conf',
    APACHE(`
LoadModule ssl_module ${MODULES}/mod_ssl.so
LoadModule unique_id_module ${MODULES}/mod_unique_id.so
LoadModule security2_module ${MODULES}/mod_security2.so
LoadModule proxy_module ${MODULES}/mod_proxy.so
LoadModule proxy_http_module ${MODULES}/mod_proxy_http.so
Listen 127.0.0.1:${port}
SSLEngine on
SSLCertificateFile ${file('cert.pem')}
SSLCertificateKeyFile ${file('key.pem')}
Include /etc/modsecurity/modsecurity.conf-recommended
SecRuleEngine On
SecDataDir ${folder.path}
SecAuditEngine Off
SecAction "id:900000,phase:1,nolog,pass,t:none,setvar:tx.paranoia_level=2"
Include /etc/modsecurity/crs/crs-setup.conf
Include /usr/share/modsecurity-crs/rules/*.conf
ProxyPass / ${receiver.url}/
`),
  );
  await start('apache2', '-f', file('apache.conf'), '-DFOREGROUND');
  const credentials: WebhookCredentials = { autorizacao: { tipo: 'bearer', token: 'um-token' } };
  expect(await post(credentials)).toMatchObject({ outcome: 'entregue' });
  const refused: string[] = [];
  for (const evento of SUBSCRIBABLE_NAMES) {
    const envelope = { evento, timestamp: '2026-01-31T12:00:00.000Z', parceiro_id: crypto.randomUUID() };
    const { outcome } = await post(credentials, JSON.stringify({ ...envelope, data: EVENT_EXAMPLES[evento] }));
    if (outcome !== 'entregue') refused.push(evento);
  }
  expect(refused).toEqual([]);
});

test('Apache with five workers, each one connection’s, answers a burst of three times as many', async (context) => {
  if (!(await isThere(['test', '-e', `${MODULES}/mod_cgi.so`]))) context.skip('there is no Apache with CGI');
  await put('slow.sh', `#!/bin/sh\ncat > /dev/null\nsleep 0.1\nprintf 'Content-Type: text/plain\\r\\n\\r\\nok'\n`);
  await chmod(file('slow.sh'), 0o755);
  await put(
    'apache.conf',
    APACHE(`
LoadModule cgi_module ${MODULES}/mod_cgi.so
Listen 127.0.0.1:${port}
StartServers 5
MinSpareServers 5
MaxSpareServers 5
MaxRequestWorkers 5
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 120
ScriptAlias /hook ${file('slow.sh')}
<Directory ${folder.path}>
  Require all granted
</Directory>
`),
  );
  await start('apache2', '-f', file('apache.conf'), '-DFOREGROUND');
  const sender = createSender({ allowInsecure: true });
  const one = () => sender.send({ url: `http://127.0.0.1:${port}/hook`, body: Buffer.from('{}'), headers: [] });
  const poll = async () => (await Promise.all([one(), one(), one()])).map(({ outcome }) => outcome);
  const outcomes = await Promise.all(
    Array.from({ length: 5 }, async () => [...(await poll()), ...(await poll()), ...(await poll()), ...(await poll())]),
  );
  await sender.close();
  expect(new Set(outcomes.flat())).toEqual(new Set(['entregue']));
});

const CLIENT_SECRET = 'segredo&do cliente';

/** An OpenID provider that somebody else wrote, whose keys and client's secret can be replaced. */
async function startIssuer() {
  const { exportJWK, exportSPKI, generateKeyPair } = await import('jose');
  const { Provider } = await import('oidc-provider');
  let callback: (...given: Parameters<RequestListener>) => unknown = () => undefined;
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    callback(request, response);
  });
  const url = `http://127.0.0.1:${await listening(server)}`;
  async function renew(client_secret: string) {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    await put('jwt.pem', await exportSPKI(publicKey));
    const provider = new Provider(url, {
      jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
      clients: [
        {
          client_id: 'carteiro',
          client_secret,
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
        },
      ],
      features: {
        clientCredentials: { enabled: true },
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => 'urn:parceiro:webhooks',
          getResourceServerInfo: () => ({
            scope: 'webhooks',
            audience: 'parceiro',
            accessTokenFormat: 'jwt',
            accessTokenTTL: 600,
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
      },
    });
    callback = provider.callback();
  }
  await renew(CLIENT_SECRET);
  return { url, asked, renew };
}

const JWT_GATEWAY = (issuer: string) => `defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend gateway
  bind 127.0.0.1:${port} ssl crt ${file('both.pem')}
  http-request set-var(txn.bearer) http_auth_bearer
  http-request set-var(txn.alg) var(txn.bearer),jwt_header_query('$.alg')
  http-request set-var(txn.iss) var(txn.bearer),jwt_payload_query('$.iss')
  http-request set-var(txn.aud) var(txn.bearer),jwt_payload_query('$.aud')
  http-request set-var(txn.scope) var(txn.bearer),jwt_payload_query('$.scope')
  http-request deny deny_status 401 unless { var(txn.alg) -m str RS256 }
  http-request deny deny_status 401 unless { var(txn.bearer),jwt_verify(txn.alg,"${file('jwt.pem')}") -m int 1 }
  http-request deny deny_status 403 unless { var(txn.iss) -m str ${issuer} } { var(txn.aud) -m str parceiro } { var(txn.scope) -m str webhooks }
  default_backend receiver
backend receiver
  server one 127.0.0.1:${receiver.port}
`;

test.for(['basic', 'corpo'] as const)(
  'a gateway that checks the JWTs of an OpenID provider takes its tokens (%s), anew after its keys or the client’s secret changed',
  async (envio, context) => {
    if (!(await isThere(['haproxy', '-v']))) context.skip('there is no haproxy');
    const issuer = await startIssuer();
    const [client_id, escopo] = ['carteiro', 'webhooks'];
    const credentialsOf = (client_secret: string) =>
      prepareCredentials({
        autorizacao: { tipo: 'oauth2', token_url: `${issuer.url}/token`, client_id, client_secret, escopo, envio },
      });
    await put('haproxy.cfg', JWT_GATEWAY(issuer.url));
    await start('haproxy', '-db', '-f', file('haproxy.cfg'));
    const sender = createSender({ allowInsecure: true, timeoutMs: 120_000, tls: { ca: authority.ca } });
    const send = (credentials: ReturnType<typeof prepareCredentials>) =>
      sender.send({ url: `https://localhost:${port}/hook`, body: Buffer.from('{}'), headers: [], credentials });
    const before = credentialsOf(CLIENT_SECRET);
    expect(await send(before)).toMatchObject({ outcome: 'entregue' });
    expect(await send(before)).toMatchObject({ outcome: 'entregue' });
    expect(issuer.asked).toEqual(['POST /token']);
    expect(await send(credentialsOf('outro segredo'))).toMatchObject({
      outcome: 'erro_autorizacao',
      error: expect.stringContaining('401 (invalid_client)') as string,
    });
    // The provider has other keys, and the client another secret.
    await stop();
    await issuer.renew('novo segredo');
    await start('haproxy', '-db', '-f', file('haproxy.cfg'));
    expect(await send(before)).toMatchObject({ statusCode: 401 });
    expect(await send(before)).toMatchObject({ outcome: 'erro_autorizacao' });
    expect(await send(credentialsOf('novo segredo'))).toMatchObject({ outcome: 'entregue' });
    await sender.close();
  },
);
