/** Keys of SECRETS_KEY that are lost, or retired while a process still has them. */
import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createVault, keyIdOf, newSecret } from '../../src/webhooks/secrets.ts';
import { rotateSecret } from '../../src/webhooks/secret-changes.ts';
import { createWebhook } from '../../src/webhooks/webhooks.ts';
import { callCommand, runCommand } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { startPollerProcess } from '../support/poller-process.ts';
import { startReceiver } from '../support/receiver.ts';

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

/** A webhook whose secret `key` has encrypted. */
async function insertSealed(key: Buffer, url = 'https://partner.example/'): Promise<{ readonly id: string }> {
  const [{ id }] = await sql<[{ id: string }]>`select uuidv7() as id`;
  await sql`
    insert into webhooks (id, partner_id, url, events, encrypted_secret)
    values (${id}, ${partnerId}, ${url}, '{desembolso.falhou}', ${createVault([key]).encrypt(id, newSecret())})`;
  return { id };
}

test('reseal names a living process that encrypts with another key, and changes nothing', async () => {
  const [older, newer] = [randomBytes(32), randomBytes(32)];
  const { id } = await insertSealed(older);
  const poller = await startPollerProcess(database.url, { SECRETS_KEY: ring(older) });
  while ((await sql`select from processes`).length < 1) await new Promise((resolve) => setTimeout(resolve, 20));
  const refused = await reseal(newer, older);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(new RegExp(`another key than ${keyIdOf(newer)}, .*: poller \\S+ \\(${keyIdOf(older)}\\)`)),
  ]);
  const [kept] = await sql<[{ blob: Buffer }]>`select encrypted_secret as blob from webhooks where id = ${id}`;
  expect(createVault([older]).decrypt(id, kept.blob).keyId).toBe(keyIdOf(older));
  await poller.end('SIGTERM');
  expect((await reseal(newer, older)).code).toBe(0);
});

test('a process whose first key was retired meanwhile stores no secret', async () => {
  const key = randomBytes(32);
  const stale = createVault([key, randomBytes(32)]);
  await sql`insert into retired_keys (key_id, actor) values (${stale.keyId}, 'ana') on conflict do nothing`;
  const by = { partnerId, actor: 'ana', requestId: null };
  const { id } = await insertSealed(key);
  const refused = { refused: { kind: 'keyRetired' } };
  await database.pool.transaction(async (tx) => {
    const asked = { ...by, url: 'https://partner.example/', events: ['desembolso.falhou'] as const };
    expect(await createWebhook(tx, stale, asked)).toEqual(refused);
    expect(await rotateSecret(tx, stale, { ...by, id }, null)).toEqual(refused);
  });
});

test('a lost SECRETS_KEY: new secrets are printed once, what waited leaves, and a previous secret that is lost holds up nothing', async () => {
  await sql`delete from webhooks`;
  const [lost, fresh] = [randomBytes(32), randomBytes(32)];
  const receiver = await startReceiver();
  const [one, other] = [
    await insertSealed(lost, `${receiver.url}/one`),
    await insertSealed(lost, `${receiver.url}/other`),
  ];
  await sql`update webhooks set previous_encrypted_secret = encrypted_secret, previous_until = now() + interval '1 day'`;
  await commitEvents(sql, partnerId, 1);
  const refused = await runCommand(['poll'], env(fresh));
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('run secrets replace --all') as string]);

  const replace = (...words: string[]) =>
    callCommand(['secrets', 'replace', ...words, '--reason', 'lost', '--author', 'ana', '--json'], env(fresh));
  expect((await replace()).code).toBe(2);
  expect((await replace(one.id, '--all')).code).toBe(2);
  expect((await replace('019a0000-0000-7000-8000-000000000000')).code).toBe(1);
  const done = await replace('--all');
  const shown = JSON.parse(done.stdout) as { webhook: string; secret: string; previousUntil: string | null }[];
  expect([done.code, shown.map(({ webhook }) => webhook)]).toEqual([0, [one.id, other.id].toSorted()]);
  expect(shown.every(({ previousUntil }) => previousUntil === null)).toBe(true);
  expect(JSON.parse((await replace('--all')).stdout)).toEqual([]);
  const lines = await sql`select change, actor, reason from webhook_history where webhook_id = ${one.id}`;
  expect(lines).toEqual([{ change: 'segredo_trocado', actor: 'operador:ana', reason: 'lost' }]);

  // A secret that opens goes on signing beside its replacement; one that does not is left out.
  const [again] = JSON.parse((await replace(one.id)).stdout) as typeof shown;
  expect(again?.previousUntil).not.toBeNull();
  const strange = createVault([lost]).encrypt(other.id, newSecret());
  await sql`
    update webhooks set previous_encrypted_secret = ${strange}, previous_until = now() + interval '1 day'
    where id = ${other.id}`;
  const poller = await startPollerProcess(database.url, { SECRETS_KEY: ring(fresh) });
  await receiver.received(2);
  const secretOf = new Map(shown.map(({ webhook, secret }) => [webhook, secret]));
  secretOf.set(one.id, again?.secret ?? '');
  for (const { path, body, headers } of receiver.posts) {
    const secret = secretOf.get(path === '/one' ? one.id : other.id) ?? '';
    const signed = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    expect(headers['x-webhook-signature']).toBe(signed);
    expect('x-webhook-signature-previous' in headers).toBe(path === '/one');
  }
  expect(await poller.end('SIGTERM')).toBe(0);
});

test('the new secrets that are in force are printed, though the next one could not be replaced', async () => {
  const [lost, fresh] = [randomBytes(32), randomBytes(32)];
  const [{ id }, other] = [await insertSealed(lost), await insertSealed(lost)];
  await sql.unsafe(`
    create function refuse_it() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse_it before update on webhooks for each row when (old.id = '${other.id}') execute function refuse_it()`);
  const words = ['secrets', 'replace', '--all', '--reason', 'lost', '--author', 'ana', '--json'];
  const failed = await runCommand(words, env(fresh));
  expect(failed.code).not.toBe(0);
  const shown = JSON.parse(failed.stdout) as { webhook: string }[];
  expect(shown.filter(({ webhook }) => [id, other.id].includes(webhook))).toHaveLength(1);
  await sql`drop function refuse_it cascade`;
});
