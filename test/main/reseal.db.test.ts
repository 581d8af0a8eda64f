/** A key of SECRETS_KEY is replaced while deliveries leave; killed in the middle, the command goes on where it stopped. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { credentialsName, openCredentials } from '../../src/webhooks/gateway/credentials.ts';
import { createVault, keyIdOf, newSecret } from '../../src/webhooks/secrets.ts';
import { callCommand, runCommand, startCommand } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { startPollerProcess } from '../support/poller-process.ts';
import { startReceiver } from '../support/receiver.ts';

const OLD = randomBytes(32);
const NEW = randomBytes(32);
const WEBHOOKS = 350;

const database = await createTestDatabase();
const { sql } = database;
const partnerId = await insertPartner(database.sql);

const ring = (...keys: Buffer[]) => keys.map((key) => key.toString('base64')).join(',');
const env = (...keys: Buffer[]) => ({
  DATABASE_URL: database.url,
  SANDBOX: 'true',
  SECRETS_KEY: ring(...keys),
  LOG_LEVEL: 'warn',
  PORT: '0',
});
const reseal = (...keys: Buffer[]) => callCommand(['secrets', 'reseal', '--json', '--author', 'ana'], env(...keys));

/** How many secrets and credentials each key has encrypted. */
async function countByKey(): Promise<Record<string, number>> {
  const rows = await database.sql<{ key: string; count: number }[]>`
    select encode(substr(secret, 1, 8), 'escape') as key, count(*)::int as count
    from webhooks cross join unnest(array[encrypted_secret, previous_encrypted_secret, encrypted_credentials]) as secret
    where secret is not null group by 1`;
  return Object.fromEntries(rows.map(({ key, count }) => [key, count]));
}

test('reseal under load, killed in the middle, resumed; then the old key is refused', async () => {
  const receiver = await startReceiver();
  const vault = createVault([OLD]);
  const ids = await sql<{ id: string }[]>`select uuidv7() as id from generate_series(1, ${WEBHOOKS}) order by 1`;
  const secrets = new Map(ids.map(({ id }) => [id, newSecret()]));
  for (const [index, { id }] of ids.entries()) {
    const encrypted = vault.encrypt(id, secrets.get(id) as string);
    const isRotated = index % 10 === 0;
    const credentials = JSON.stringify({ cabecalhos: { 'X-Api-Key': `chave-${id}` } });
    await sql`
      insert into webhooks (id, partner_id, url, events, encrypted_secret, previous_encrypted_secret, previous_until,
                            encrypted_credentials)
      values (${id}, ${partnerId}, ${`${receiver.url}/${id}`}, '{desembolso.falhou}', ${encrypted},
              ${isRotated ? encrypted : null}, ${isRotated ? new Date(Date.now() + 3_600_000) : null},
              ${isRotated ? vault.encrypt(credentialsName(id), credentials) : null})`;
  }
  const all = WEBHOOKS + (2 * WEBHOOKS) / 10;
  const poller = await startPollerProcess(database.url, { SECRETS_KEY: ring(NEW, OLD) });

  const before = await countByKey();
  expect(before).toEqual({ [keyIdOf(OLD)]: all });
  // A webhook of the third batch is being changed: the command waits for it there, and is killed.
  const held = await sql.reserve();
  await held`begin`;
  await held`select from webhooks where id = ${ids[250]?.id ?? ''} for update`;
  await commitEvents(sql, partnerId, 2);
  const killed = startCommand(['secrets', 'reseal'], env(NEW, OLD));
  while (((await countByKey())[keyIdOf(NEW)] ?? 0) < 240) await new Promise((resolve) => setTimeout(resolve, 20));
  await killed.end('SIGKILL');
  expect(await countByKey()).toEqual({ [keyIdOf(NEW)]: 240, [keyIdOf(OLD)]: all - 240 });
  await held`commit`;
  held.release();

  await commitEvents(sql, partnerId, 2);
  const done = await reseal(NEW, OLD);
  expect([done.code, JSON.parse(done.stdout)]).toEqual([
    0,
    { webhooks: WEBHOOKS - 200, unopened: [], key: keyIdOf(NEW), retired: [keyIdOf(OLD)] },
  ]);
  expect(await countByKey()).toEqual({ [keyIdOf(NEW)]: all });
  await receiver.received(4 * WEBHOOKS);
  while ((await sql`select from deliveries where status = 'pendente'`).length > 0)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const outcomes = await sql`select distinct outcome from attempts`;
  expect(outcomes).toEqual([{ outcome: 'entregue' }]);
  for (const { path, headers } of receiver.posts) {
    const id = path.slice(1);
    const isRotated = ids.findIndex((one) => one.id === id) % 10 === 0;
    expect(headers['x-api-key']).toBe(isRotated ? `chave-${id}` : undefined);
  }
  expect(poller.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  expect(await poller.end('SIGTERM')).toBe(0);
  await receiver.close();

  // What partners were shown still opens, by the new key alone.
  const opener = createVault([NEW]);
  for (const row of await sql<{ id: string; blob: Buffer }[]>`select id, encrypted_secret as blob from webhooks`)
    expect(opener.decrypt(row.id, row.blob).secret).toBe(secrets.get(row.id));
  for (const row of await sql<{ id: string; blob: Buffer }[]>`
    select id, encrypted_credentials as blob from webhooks where encrypted_credentials is not null`)
    expect(openCredentials(opener, row.id, row.blob)).toEqual({ cabecalhos: { 'X-Api-Key': `chave-${row.id}` } });

  for (const [keys, sentence] of [
    [[OLD], /begins with key .* retired/],
    [[OLD, NEW], /begins with key .* retired/],
    [[randomBytes(32)], /opens none of the \d+ stored signing secrets/],
  ] as const) {
    const { code, stderr } = await runCommand(['poll'], env(...keys));
    expect([code, stderr.trimEnd().split('\n')]).toEqual([1, [expect.stringMatching(sentence)]]);
    for (const key of keys) expect(stderr).not.toContain(key.toString('base64'));
  }
  const warned = startCommand(['poll'], { ...env(NEW, OLD), LOG_LEVEL: 'info' });
  expect(await warned.log(/the poller delivers/)).toContain('SECRETS_KEY holds retired keys: take them out');
  expect((await warned.end('SIGTERM')).code).toBe(0);
});

test('a secret that no key opens is named and left, and no key is retired', async () => {
  const newest = randomBytes(32);
  const [row] = await sql<[{ id: string }]>`select id from webhooks order by id limit 1`;
  const strange = createVault([randomBytes(32)]).encrypt(row.id, newSecret());
  await sql`update webhooks set encrypted_secret = ${strange} where id = ${row.id}`;
  const { code, stdout } = await reseal(newest, NEW);
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { unopened: [row.id], webhooks: WEBHOOKS - 1, retired: [] }]);
  expect((await reseal(OLD, NEW)).stderr).toMatch(/^carteiro: SECRETS_KEY begins with the retired key [0-9a-f]{8}: /);
  const without = await callCommand(['secrets', 'reseal'], {
    ...env(NEW),
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x',
  });
  expect(without.code).toBe(3);
  const [kept] = await sql<[{ blob: Buffer }]>`select encrypted_secret as blob from webhooks where id = ${row.id}`;
  expect(kept.blob.equals(strange)).toBe(true);
});
