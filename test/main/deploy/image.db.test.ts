/** The image as an orchestrator runs it: built from the Dockerfile, process 1, not root, on a read-only root. */
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type Image, openBuilder, startInImage } from '../../support/image.ts';
import { AUDIENCE, ISSUER, type KeySetServer, createSigningKey, startKeySet } from '../../support/issuer.ts';
import { listening } from '../../support/listening.ts';
import { run } from '../../support/snippets.ts';

const builder = await openBuilder();
/** What our layers may hold besides the base, in MiB: a dependency that is much larger shows. */
const MAX_MIB = 40;

interface Locked {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

describe.skipIf(builder === null)('the image', () => {
  let image: Image;
  let database: TestDatabase;
  let keySet: KeySetServer;
  let env: Record<string, string>;
  beforeAll(async () => {
    if (builder === null) return;
    image = await builder.open(await builder.build('localhost/carteiro'));
    database = await createTestDatabase();
    keySet = await startKeySet([(await createSigningKey('ES256')).publicJwk]);
    env = {
      DATABASE_URL: database.url,
      SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
      JWT_ISSUER: ISSUER,
      JWT_AUDIENCE: AUDIENCE,
      JWT_JWKS_URL: keySet.url,
      HOST: '127.0.0.1',
    };
  });
  afterAll(() => builder?.remove());

  test('has the same layers, to the byte, when it is built again', async () => {
    const again = await builder?.build('localhost/carteiro-again');
    expect(again?.layers).toEqual(image.layers);
  });

  test('says how it is run: not as root, with its ports, its health check and SIGTERM', () => {
    expect(image.config).toMatchObject({
      User: '1000:1000',
      Entrypoint: ['node', 'src/main.ts'],
      Cmd: ['api'],
      WorkingDir: '/app',
      StopSignal: 'SIGTERM',
      ExposedPorts: { '3000/tcp': {}, '9464/tcp': {} },
      Healthcheck: { Test: ['CMD', 'node', 'src/main.ts', 'health'] },
    });
  });

  test('holds the packages that the service needs, and no PostgreSQL, test, type or source map', async () => {
    const lock = JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../../../package-lock.json'), 'utf8')) as {
      packages: Record<string, Locked>;
    };
    const needed = Object.entries(lock.packages).filter(
      ([name, { dev, optional, devOptional }]) => name !== '' && !dev && !optional && !devOptional,
    );
    const app = path.join(image.root, 'app');
    const held = new Set(globSync('node_modules/**/package.json', { cwd: app }).map((file) => path.dirname(file)));
    const names = new Set(needed.map(([name]) => name));
    expect([...names].filter((name) => !held.has(name))).toEqual([]);
    expect(
      globSync('node_modules/{*,@*/*}/package.json', { cwd: app })
        .map((file) => path.dirname(file))
        .filter((name) => !names.has(name)),
    ).toEqual([]);
    expect(globSync('{test,**/*.map,**/*.d.ts,**/pg_ctl,**/postgres.bin}', { cwd: app })).toEqual([]);
    const [kib = ''] = (await run(['du', '-sk', app], '/')).split('\t');
    console.info(`the image is ${Math.round(Number(kib) / 1024)} MiB on top of its base`);
    expect(Number(kib) / 1024).toBeLessThan(MAX_MIB);
  });

  test('cannot write to its root, and owns nothing but the folder for a sandbox', async () => {
    const script = `
      const { writeFileSync, accessSync } = require('node:fs');
      const tries = ['/app/x', '/app/src/main.ts', '/x'].map((file) => { try { writeFileSync(file, ''); return 'written'; } catch (error) { return error.code; } });
      console.log(JSON.stringify([process.pid, process.getuid(), process.getgid(), ...tries]));`;
    const { output } = await startInImage(image, ['-e', script], {}, ['node']).end();
    expect(JSON.parse(output)).toEqual([1, 1000, 1000, 'EROFS', 'EROFS', 'EROFS']);
    const owned = (await run(['find', path.join(image.root, 'app'), '!', '-uid', '0'], '/')).trim();
    expect(owned).toBe(path.join(image.root, 'app/.data'));
  });

  test.each([
    ['api', { PORT: '0' }, /"url":"http:\/\/127\.0\.0\.1:(\d+)","msg":"the API listens"/],
    ['poll', { METRICS_PORT: '0' }, /"url":"http:\/\/127\.0\.0\.1:(\d+)","msg":"metrics are served"/],
  ])(
    '%s starts as process 1, is healthy by the image’s own check, and drains on SIGTERM with 0',
    async (command, own, reported) => {
      const running = startInImage(image, [command], { ...env, ...own });
      const [, port = ''] = reported.exec(await running.log(reported)) ?? [];
      await running.log(/the poller delivers|the API listens/);
      const status = readFileSync(`/proc/${running.pid()}/status`, 'utf8');
      expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
      expect(status).toMatch(/^NSpid:\t\d+.*\t1$/m);
      const [, ...check] = image.config.Healthcheck.Test;
      const ports = command === 'api' ? { PORT: port, METRICS_PORT: '1' } : { PORT: '1', METRICS_PORT: port };
      const healthy = startInImage(image, [], { ...env, ...ports }, check);
      expect(await healthy.end()).toEqual({ code: 0, output: 'alive\n' });
      const { code, output } = await running.end('SIGTERM');
      expect([code, output]).toEqual([0, expect.stringMatching(/draining.*"msg":"stopped"/s)]);
      const gone = await startInImage(image, [], { ...env, ...ports }, check).end();
      expect(gone.code).toBe(1);
    },
  );

  test('a job that is process 1 ends on SIGTERM, too', async () => {
    const silent = createServer(() => undefined);
    const reached = once(silent, 'connection') as Promise<[Socket]>;
    const url = `postgres://nobody@127.0.0.1:${await listening(silent)}/none`;
    const running = startInImage(image, ['migrate'], { ...env, DATABASE_URL: url });
    const [socket] = await reached;
    expect((await running.end('SIGTERM')).code).toBe(143);
    socket.destroy();
  });
});
