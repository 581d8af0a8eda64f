/** A pool on what a URL says besides one host, a port and a password, as psql would connect. */
import { chmod, chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { reasonOf } from '../../src/main/reason.ts';
import { isUnavailable } from '../../src/db/unavailable.ts';
import { startCluster } from '../support/clusters.ts';
import { callCommand } from '../support/command.ts';
import { connectTo } from '../support/connect.ts';
import { openPool } from '../support/database.ts';
import { freePorts } from '../support/free-ports.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const folder = await makeTestFolder();
// The server's user must reach it.
await chmod(folder.path, 0o777);
const cluster = await startCluster({ unix_socket_directories: folder.path });
const { owner } = cluster.cluster;
if (owner) await chown(folder.path, owner.uid, owner.gid);
const admin = connectTo(cluster.url);
const { port, username, password, hostname } = new URL(cluster.url);
const [away = 0, alsoAway = 0] = await freePorts(2);

const COMPOSED = 'se\u00e7\u00e3o\u00a0\u2168';

const whereOf = async (url: string, name = 'hosts') => {
  const [found] = await openPool(url, { name, deadlineMs: 20_000 }).run(
    (sql) => sql<[{ address: string | null; user: string; named: string }]>`
      select host(inet_server_addr()) as address, current_user as user, current_setting('application_name') as named`,
  );
  return found;
};

describe('a URL', () => {
  test('reaches a Unix socket, in both of its forms', async () => {
    const login = `${username}:${password}`;
    const socket = { address: null, user: username, named: 'hosts' };
    expect(await whereOf(`postgres://${login}@:${port}/carteiro?host=${folder.path}`)).toEqual(socket);
    const encoded = encodeURIComponent(folder.path);
    expect(await whereOf(`postgres://${login}@${encoded}:${port}/carteiro?sslmode=verify-full`)).toEqual(socket);
  });

  test('has its parameters win over what stands before them', async () => {
    const url = `postgres://nobody:wrong@127.0.0.9:${away}/nowhere`;
    const right = `host=${hostname}&port=${port}&user=${username}&password=${password}&dbname=carteiro`;
    expect(await whereOf(`${url}?${right}&application_name=n`)).toEqual({
      address: hostname,
      user: username,
      named: 'n',
    });
  });

  test('of several hosts is tried host by host; with all of them away it says so of each, and ends', async () => {
    const login = `postgres://${username}:${password}@`;
    expect(await whereOf(`${login}127.0.0.1:${away},127.0.0.1:${port}/carteiro`)).toMatchObject({ user: username });
    const both = `${login}127.0.0.1:${away},127.0.0.1:${alsoAway}/carteiro`;
    const error: unknown = await whereOf(both).catch((caught: unknown) => caught);
    expect(isUnavailable(error)).toBe(true);
    for (const one of [away, alsoAway]) expect(reasonOf(error)).toContain(`127.0.0.1:${one}: connect ECONNREFUSED`);
    const { code, stderr } = await callCommand(['migrate'], { DATABASE_URL: both });
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('ECONNREFUSED') });
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test('that wants a standby passes a primary over, and one that prefers one takes it', async () => {
    const hosts = `127.0.0.1:${port},127.0.0.1:${port}`;
    const url = (wanted: string) =>
      `postgres://${username}:${password}@${hosts}/carteiro?target_session_attrs=${wanted}`;
    for (const wanted of ['primary', 'read-write', 'prefer-standby', 'any']) {
      expect(await whereOf(url(wanted))).toMatchObject({ user: username });
    }
    for (const wanted of ['standby', 'read-only']) {
      await expect(whereOf(url(wanted))).rejects.toThrow(`127.0.0.1:${port}: not ${wanted}`);
    }
  });

  test('with a wrong password asks no second host', async () => {
    const url = `postgres://${username}:wrong@127.0.0.1:${port},127.0.0.1:${away}/carteiro`;
    expect(reasonOf(await whereOf(url).catch((error: unknown) => error))).toContain('password authentication failed');
  });

  test('with a file of passwords reads it at each connect, so that a password may change', async () => {
    await admin.unsafe(`create role turning login password 'one:1'`);
    const file = join(folder.path, 'passwords');
    const write = (word: string) => writeFile(file, `# ours\n*:1:*:*:no\n127.0.0.1:${port}:carteiro:turning:${word}\n`);
    await write('one\\:1');
    const pool = openPool(`postgres://turning@127.0.0.1:${port}/carteiro?passfile=${file}`, { deadlineMs: 20_000 });
    const cut = () => pool.run((sql) => sql`select pg_terminate_backend(pg_backend_pid())`).catch(() => undefined);
    await cut();
    await admin.unsafe(`alter role turning password 'two'`);
    await expect(pool.run((sql) => sql`select`)).rejects.toThrow('out of reach');
    await write('two');
    await cut();
    expect(await pool.run((sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
  });

  test('whose password is not ASCII has it prepared as the server did', async () => {
    // A hard space and a Roman nine, which are one space and two letters to it.
    await admin.unsafe(`create role accented login password '${COMPOSED}'`);
    const decomposed = encodeURIComponent(COMPOSED.normalize('NFD'));
    const found = await whereOf(`postgres://accented:${decomposed}@127.0.0.1:${port}/carteiro`);
    expect(found).toMatchObject({ user: 'accented' });
  });
});
