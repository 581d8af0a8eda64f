/** TLS to a real PostgreSQL whose certificate a private authority has signed. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { isUnavailable } from '../../src/db/unavailable.ts';
import { type Authority, makeAuthority } from '../support/certificates.ts';
import { startCluster } from '../support/clusters.ts';
import { callCommand, runCommand } from '../support/command.ts';
import { connectTo } from '../support/connect.ts';
import { startPollerProcess } from '../support/poller-process.ts';
import { makeTestFolder } from '../support/test-folder.ts';
import { openPool } from '../support/database.ts';

const ours = makeAuthority('Autoridade da casa');
const another = makeAuthority('Outra autoridade');

/** Has the server show a certificate of this authority for these names from its next connection on. */
async function present(authority: Authority, names: readonly string[]): Promise<void> {
  const { key, cert } = authority.issue(names);
  for (const [file, text] of [
    ['server.key', key],
    ['server.crt', cert],
  ] as const) {
    const path = join(cluster.cluster.data, file);
    await writeFile(path, text);
    await chmod(path, 0o600);
    const { owner } = cluster.cluster;
    if (owner) await chown(path, owner.uid, owner.gid);
  }
  await admin`select pg_reload_conf()`;
  await untilShown(cert);
}

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

const cluster = await startCluster();
const folder = await makeTestFolder();
const admin = connectTo(cluster.url);
await admin`alter system set ssl = on`;
await present(ours, ['localhost']);
for (const [file, { ca }] of Object.entries({ ours, another })) await writeFile(join(folder.path, file), ca);
await writeFile(join(folder.path, 'no-certificate'), 'not one');

/** The certificate that the server shows to a new connection, in PEM; null when it does not speak TLS. */
async function readShown(): Promise<string | null> {
  const { port } = new URL(cluster.url);
  const socket = connect(Number(port), '127.0.0.1', () => socket.write(SSL_REQUEST));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (answer.toString() !== 'S') {
    socket.destroy();
    return null;
  }
  const secured = connectTls({ socket, rejectUnauthorized: false });
  await once(secured, 'secureConnect');
  const shown = secured.getPeerX509Certificate()?.toString() ?? '';
  secured.destroy();
  return shown;
}

async function untilShown(cert: string | null): Promise<void> {
  const wanted = cert === null ? null : new X509Certificate(cert).toString();
  while ((await readShown()) !== wanted) await sleep(10);
}

function urlWith(mode: string, authority: string | null, host = 'localhost'): string {
  const url = new URL(cluster.url);
  url.hostname = host;
  url.searchParams.set('sslmode', mode);
  if (authority !== null) url.searchParams.set('sslrootcert', join(folder.path, authority));
  return url.href;
}

/** Whether a pool's connection to `url` is encrypted. */
async function isEncrypted(url: string): Promise<boolean> {
  const pool = openPool(url, { name: 'tls' });
  const [{ ssl }] = await pool.run(
    (sql) => sql<[{ ssl: boolean }]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`,
  );
  return ssl;
}

const production = (DATABASE_URL: string) => ({ DATABASE_URL, SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') });

test('migrate and poll work over TLS alone, with verify-full and the private authority', async () => {
  const url = urlWith('verify-full', 'ours');
  expect(await runCommand(['migrate'], { DATABASE_URL: url })).toMatchObject({ code: 0, stdout: 'migrated\n' });
  const poller = await startPollerProcess(url);
  const sessions = () => admin<{ name: string; ssl: boolean }[]>`
    select application_name as name, ssl from pg_stat_ssl join pg_stat_activity using (pid)
    where application_name like 'carteiro%'`;
  while (!(await sessions()).some(({ name }) => name === 'carteiro poller')) await sleep(10);
  expect((await sessions()).filter(({ ssl }) => !ssl)).toEqual([]);
  expect(await poller.end('SIGTERM')).toBe(0);
});

describe('a certificate', () => {
  test.each([
    ['of another authority', 'another', 'of another authority: set sslrootcert'],
    ['of no public authority, without sslrootcert', null, 'of another authority: set sslrootcert'],
  ])('%s is refused in a sentence, by migrate and by poll', async (_name, authority, sentence) => {
    const env = production(urlWith('verify-full', authority));
    for (const command of ['migrate', 'poll']) {
      const { code, stderr } = await runCommand([command], env);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(sentence) });
      expect(stderr).not.toMatch(/\n\s+at |postgres:\/\//);
    }
  });

  test.each(['127.0.0.1', 'localhost'])('for another host than %s is refused with verify-full alone', async (host) => {
    await present(ours, [host === 'localhost' ? 'db.example' : 'localhost']);
    const { code, stderr } = await callCommand(['migrate'], { DATABASE_URL: urlWith('verify-full', 'ours', host) });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('is for another host') });
    expect(await isEncrypted(urlWith('verify-ca', 'ours', host))).toBe(true);
    await expect(isEncrypted(urlWith('verify-ca', 'another', host))).rejects.toThrow('of another authority');
    await present(ours, ['127.0.0.1', 'localhost']);
    expect(await isEncrypted(urlWith('verify-full', 'ours', host))).toBe(true);
  });

  test('that changes under a process that works is refused by its next connection, and it goes on once it is right', async () => {
    const pool = openPool(urlWith('verify-full', 'ours'), { name: 'tls' });
    const cut = () => pool.run((sql) => sql`select pg_terminate_backend(pg_backend_pid())`).catch(() => undefined);
    await pool.run((sql) => sql`select`);
    await present(another, ['localhost']);
    await cut();
    const refused = await pool.run((sql) => sql`select`).catch((error: unknown) => error);
    expect([isUnavailable(refused), (refused as Error).message]).toEqual([
      true,
      expect.stringContaining('of another authority'),
    ]);
    await present(ours, ['localhost']);
    await expect(pool.run((sql) => sql`select 1 as one`)).resolves.toEqual([{ one: 1 }]);
  });
});

test.each(['nowhere', 'no-certificate'])(
  'sslrootcert %s is refused in a sentence that names the file',
  async (file) => {
    for (const command of ['migrate', 'poll']) {
      const { code, stderr } = await runCommand([command], production(urlWith('verify-full', file)));
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^carteiro: sslrootcert in .*$/m) });
      expect(stderr).toContain(join(folder.path, file));
    }
  },
);

describe('a certificate of ours', () => {
  const certified = (parameters: string) => {
    const url = new URL(urlWith('verify-full', 'ours'));
    [url.username, url.password] = ['certified', ''];
    return `${url.href}&${parameters}`;
  };

  test('logs in where the server asks for one, is read at each connect, and is told of when it is missing', async () => {
    const [hba, ca] = ['pg_hba.conf', 'root.crt'].map((name) => join(cluster.cluster.data, name)) as [string, string];
    const before = await readFile(hba, 'utf8');
    await writeFile(hba, `hostssl all certified all cert\n${before}`);
    await writeFile(ca, ours.ca);
    await chmod(ca, 0o644);
    await admin.unsafe(`create role certified login`);
    await admin`alter system set ssl_ca_file = 'root.crt'`;
    await admin`select pg_reload_conf()`;
    const [cert, key] = ['own.crt', 'own.key'].map((name) => join(folder.path, name)) as [string, string];
    const own = ours.issue(['certified']);
    await writeFile(cert, own.cert);
    await writeFile(key, own.key);
    const url = certified(`sslcert=${cert}&sslkey=${key}`);
    while (!(await isEncrypted(url).catch(() => false))) await sleep(10);
    const two = new URL(url);
    two.searchParams.set('host', '127.0.0.1,localhost');
    two.searchParams.set('port', `1,${two.port}`);
    expect(await isEncrypted(two.href)).toBe(true);
    await writeFile(cert, 'none');
    await expect(isEncrypted(url)).rejects.toThrow(`sslcert in the database's URL: ${cert} holds no certificate`);
    await writeFile(cert, own.cert);
    expect(await isEncrypted(url)).toBe(true);
    await expect(isEncrypted(certified(''))).rejects.toThrow('out of reach');
  });
});

test('a server that does not speak TLS is sent nothing', async () => {
  await admin`alter system set ssl = off`;
  await admin`select pg_reload_conf()`;
  await untilShown(null);
  await expect(isEncrypted(urlWith('verify-full', 'ours'))).rejects.toThrow('out of reach');
  expect(await isEncrypted(urlWith('disable', null))).toBe(false);
});
