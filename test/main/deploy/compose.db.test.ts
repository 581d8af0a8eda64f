/** The Compose file as an operator starts it, by podman-compose: the image built from the Dockerfile, on a host of its own. */
import { chownSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { createServer as createHttpsServer } from 'node:https';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { makeKey } from '../../../src/audit/checkpoint/note.ts';
import { makeAuthority } from '../../support/certificates.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { openBuilder } from '../../support/image.ts';
import { AUDIENCE, createSigningKey, goodClaims, ISSUER, sign, type SigningKey } from '../../support/issuer.ts';
import { listening } from '../../support/listening.ts';
import { createLogin, type Login } from '../../support/logins.ts';
import { HERE } from '../../support/net-hosts.ts';
import { insertPartner } from '../../support/outbox.ts';
import { hasPodman, openPodman, openQuarters, type OwnPodman } from '../../support/own-podman.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

const FILE = path.resolve(import.meta.dirname, '../../../src/main/deploy/compose.yaml');
const IMAGE = `localhost/carteiro:${manifest.version}`;
/** The name of a container ends with its service and number; versions of podman-compose begin it differently. */
const SERVED = ['api-3000_1', 'api-3001_1', 'poll_1', 'poll_2', 'poll_3'];

/** What the example leaves to its site: here no partner is on the Internet, and nobody knows the issuer's authority. */
const SITE = (ca: string) => `
services:
  api-3000: &api
    environment: { ALLOW_INSECURE_TARGETS: 'true', NODE_EXTRA_CA_CERTS: /run/ca.pem, DRAIN_DELAY_SECONDS: '1' }
    volumes: ['${ca}:/run/ca.pem:ro']
  api-3001: *api
  poll:
    environment: { ALLOW_INSECURE_TARGETS: 'true' }
`;

/** Leads connections to the containers' side of this machine to the server of `url`. */
async function relayTo(url: URL): Promise<number> {
  const server = createServer((socket) => {
    const upstream = connect(Number(url.port), url.hostname);
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const)
      from.pipe(to).on('error', () => from.destroy());
  });
  return listening(server, HERE);
}

const mayRun = await hasPodman();
const quarters = mayRun ? await openQuarters() : null;
const builder = quarters && (await openBuilder(quarters.driver, quarters.prefix));
if (builder !== null) await builder.build(IMAGE);
const podman = quarters && builder && (await openPodman(quarters, builder.storage, IMAGE));
if (podman === null) await builder?.remove();

describe.skipIf(podman === null)('the Compose file', () => {
  const { folder, compose, ask, remove, ...own } = podman ?? ({} as OwnPodman);
  let database: TestDatabase;
  let logins: Login[];
  let key: SigningKey;
  let receiver: Receiver;
  let names: string[];
  const files = ['--file', 'compose.yaml', '--file', 'site.yaml'];

  beforeAll(async () => {
    database = await createTestDatabase();
    key = await createSigningKey('ES256');
    receiver = await startReceiver({ host: HERE });
    const authority = makeAuthority();
    const issuer = createHttpsServer(authority.issue([HERE]), (_request, response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [key.publicJwk] })),
    );
    const [issuerPort, relayPort] = [await listening(issuer, HERE), await relayTo(new URL(database.url))];
    const roles = ['carteiro_owner', 'carteiro_app', 'carteiro_poller'];
    logins = await Promise.all(roles.map((role) => createLogin(database, role)));
    const [owner, app, poller] = logins.map(({ url }) => {
      const there = new URL(url);
      there.host = `${HERE}:${relayPort}`;
      return there.href;
    });
    const environment = {
      MIGRATE_DATABASE_URL: owner,
      API_DATABASE_URL: app,
      POLL_DATABASE_URL: poller,
      SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
      JWT_ISSUER: ISSUER,
      JWT_AUDIENCE: AUDIENCE,
      JWT_JWKS_URL: `https://${HERE}:${issuerPort}/jwks.json`,
    };
    const lines = Object.entries(environment).map(([name, value]) => `${name}=${value}\n`);
    copyFileSync(FILE, path.join(folder, 'compose.yaml'));
    writeFileSync(path.join(folder, '.env'), lines.join(''));
    writeFileSync(path.join(folder, 'ca.pem'), authority.ca);
    for (const kept of ['keys', 'anchors']) {
      mkdirSync(path.join(folder, kept));
      chownSync(path.join(folder, kept), 1000, 1000);
    }
    writeFileSync(path.join(folder, 'keys/checkpoint.key'), `${makeKey('carteiro.example.com/log')}\n`);
    writeFileSync(path.join(folder, 'keys/worker.key'), `${Buffer.alloc(32, 9).toString('base64')}\n`);
    writeFileSync(path.join(folder, 'site.yaml'), SITE(path.join(folder, 'ca.pem')));
    await compose(...files, 'up', '--detach');
    names = (await own.podman('ps', '--all', '--format', '{{.Names}}')).trim().split('\n');
  });
  afterAll(async () => {
    await remove();
    for (const login of logins) await login.remove();
    await builder?.remove();
  });

  const called = (end: string) => names.find((name) => name.endsWith(`_${end}`)) ?? end;
  const inspect = async (end: string, format: string) =>
    (await own.podman('inspect', '--format', format, called(end))).trim();

  test('starts migrate, two api and three poll, each with its memory and nothing else', async () => {
    expect(names.map((name) => name.replace(/^.*?_(?=migrate|api|poll)/, '')).toSorted()).toEqual(
      ['migrate_1', ...SERVED].toSorted(),
    );
    await expect.poll(() => inspect('migrate_1', '{{.State.Status}} {{.State.ExitCode}}')).toBe('exited 0');
    const what =
      '{{.HostConfig.ReadonlyRootfs}} {{.EffectiveCaps}} {{.HostConfig.SecurityOpt}} {{.Config.User}} {{.HostConfig.Memory}}';
    const mib = (end: string) => (end.startsWith('api') ? 1024 : 448) * 1024 * 1024;
    for (const end of SERVED)
      expect(await inspect(end, what)).toMatch(
        new RegExp(`^true \\[\\] \\[no-new-privileges.*\\] 1000:1000 ${mib(end)}$`),
      );
  });

  test('serves at both ports and delivers', async () => {
    const ready = async (port: number) => (await ask(`http://127.0.0.1:${port}/readyz`))?.status;
    for (const port of [3000, 3001]) await expect.poll(() => ready(port)).toBe(200);
    const partnerId = await insertPartner(database.sql);
    const send = async (port: number, to: string, claims: object, body: object) => {
      const headers = {
        authorization: `Bearer ${await sign(key, goodClaims({ ...claims }))}`,
        'content-type': 'application/json',
      };
      return (await ask(`http://127.0.0.1:${port}${to}`, { method: 'POST', headers, body: JSON.stringify(body) }))
        ?.status;
    };
    const hook = { url: receiver.url, eventos: ['autorizacao.confirmada'] };
    const event = { parceiro_id: partnerId, cpf_trabalhador: '52998224725', origem: 'mensageria' };
    const mayWrite = { parceiro_id: partnerId, scope: 'webhooks:write' };
    expect(await send(3000, '/v1/webhooks', mayWrite, hook)).toBe(201);
    expect(await send(3001, '/v1/nucleo/autorizacoes', { scope: 'nucleo' }, event)).toBe(201);
    await expect.poll(() => receiver.posts.length).toBe(1);
  });

  test.each(['api-3001_1', 'poll_2'])(
    '%s is healthy by the image’s own check, and drains when it is stopped',
    async (end) => {
      const healthy = () =>
        own.podman('healthcheck', 'run', called(end)).then(
          () => true,
          () => false,
        );
      await expect.poll(healthy).toBe(true);
      await own.podman('stop', '--time', '60', called(end));
      expect(await inspect(end, '{{.State.ExitCode}} {{.State.OOMKilled}}')).toBe('0 false');
    },
  );
});
