/** The policy for failing endpoints as operators turn it on and off: real pollers with nothing but their role. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { sign, signingKey } from '../../src/delivery/sending/signature.ts';
import { createTestDatabase } from '../support/database.ts';
import { createLogin } from '../support/logins.ts';
import { insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook, startPollerProcess } from '../support/poller-process.ts';
import { startReceiver } from '../support/receiver.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const OFF = { ENDPOINT_FAILING_AFTER: 'off' };
const POLICY = { ENDPOINT_FAILING_AFTER: '3', ENDPOINT_FAILING_HOURS: '2', ENDPOINT_SUSPEND_AFTER_DAYS: '3' };

const database = await createTestDatabase();
const { sql } = database;
const login = await createLogin(database, 'carteiro_poller');
const receiver = await startReceiver();

test('a poller judges, and tells the operator, signed; two of them tell it once; one that starts with it off ends it', async () => {
  const env = { ...POLICY, OPERATOR_WEBHOOK_URL: `${receiver.url}/operator`, OPERATOR_WEBHOOK_SECRET: SECRET };
  const pollers = [await startPollerProcess(login.url, env), await startPollerProcess(login.url, env)];
  await expect.poll(() => sql`select from failing_policy`).toHaveLength(1);
  await expect.poll(() => sql`select from webhooks where id = operator_partner() and active`).toHaveLength(1);

  const partnerId = await insertPartner(sql);
  const { id } = await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/failing`);
  await sql`
    insert into failing_runs (webhook_id, partner_id, failures, first_failed_at, last_failed_at, last_outcome, last_status_code)
    values (${id}, ${partnerId}, 4, now() - interval '3 hours', now(), 'resposta_nao_2xx', 500)`;
  await receiver.received(1);
  const [post] = receiver.posts;
  expect(post?.path).toBe('/operator');
  expect(post?.headers['x-webhook-signature']).toBe(sign(signingKey(SECRET), post?.body as Buffer));
  expect(JSON.parse(String(post?.body))).toMatchObject({
    evento: 'webhook.falhando',
    data: { webhook_id: id, parceiro_id: partnerId, falhas: 4, ultimo_resultado: 'resposta_nao_2xx' },
  });

  const counted = await Promise.all(pollers.map(({ lines }) => readCount(lines, 'falhando')));
  expect(counted.reduce((sum, count) => sum + count)).toBe(1);

  expect(await Promise.all(pollers.map((poller) => poller.end('SIGTERM')))).toEqual([0, 0]);
  expect(pollers.flatMap(({ lines }) => lines).filter((line) => line.includes('has changed a webhook'))).toHaveLength(
    1,
  );
  expect(pollers.flatMap(({ lines }) => lines).join('\n')).not.toContain(SECRET);
  expect(receiver.posts).toHaveLength(1);

  const without = await startPollerProcess(login.url, OFF);
  await expect.poll(() => sql`select from failing_policy`).toHaveLength(0);
  expect(await sql`select from webhooks where id = operator_partner() and active`).toHaveLength(0);
  const changes = await sql<{ change: string }[]>`
    select change from webhook_history where webhook_id = ${id} order by position`;
  expect(changes.map(({ change }) => change)).toEqual(['falhando', 'fim_da_falha']);
  expect(await without.end('SIGTERM')).toBe(0);
});

test('a poller that starts with it off ends more webhooks than one transaction takes', async () => {
  const partnerId = await insertPartner(sql);
  await sql`insert into failing_policy (looked_at) values (now())`;
  await sql`
    insert into webhooks (id, partner_id, url, events, encrypted_secret)
    select uuidv7(), ${partnerId}, 'https://partner.example/', '{desembolso.falhou}', 'secret' from generate_series(1, 1100)`;
  await sql`update lanes set failing_since = now() where partner_id = ${partnerId}`;
  await sql`
    insert into failing_runs (webhook_id, partner_id, failures, first_failed_at, last_failed_at, last_outcome)
    select id, partner_id, 9, now(), now(), 'desconhecido' from webhooks where partner_id = ${partnerId}`;

  const without = await startPollerProcess(login.url, OFF);
  await expect.poll(() => sql`select from failing_policy`).toHaveLength(0);
  expect(await sql`select from lanes where failing_since is not null`).toHaveLength(0);
  await expect.poll(() => readCount(without.lines, 'fim_da_falha')).toBe(1_100);
  expect(await without.end('SIGTERM')).toBe(0);
});

test('what a poller that had it on longer has left, one with it off ends once nobody looks', async () => {
  const insertPolicy = (lookedS: number) =>
    sql`insert into failing_policy (looked_at) values (now() - ${lookedS} * interval '1 second')`;
  await insertPolicy(0);
  const without = await startPollerProcess(login.url, OFF);
  await expect.poll(() => sql`select from failing_policy`).toHaveLength(0);
  const partnerId = await insertPartner(sql);
  const { id } = await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/left`);
  await sql`update lanes set failing_since = now() where webhook_id = ${id}`;
  await sql`
    insert into failing_runs (webhook_id, partner_id, failures, first_failed_at, last_failed_at, last_outcome)
    values (${id}, ${partnerId}, 9, now(), now(), 'desconhecido')`;
  await insertPolicy(600);
  await expect.poll(() => sql`select from failing_policy`).toHaveLength(0);
  expect(await sql`select from lanes where failing_since is not null`).toHaveLength(0);
  await expect.poll(() => readCount(without.lines, 'fim_da_falha')).toBe(1);
  expect(await without.end('SIGTERM')).toBe(0);
});

/** What a poller's `/metrics` says of one change. */
async function readCount(lines: readonly string[], change: string): Promise<number> {
  const line = lines.find((one) => one.includes('metrics are served')) ?? '{}';
  const { url } = JSON.parse(line) as { url: string };
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^carteiro_failing_changes_total\\{change="${change}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
}

test.each([
  [{ ...OFF, ENDPOINT_FAILING_HOURS: '3' }, 'ENDPOINT_FAILING_HOURS: means nothing beside ENDPOINT_FAILING_AFTER=off'],
  [
    {
      ...POLICY,
      ALLOW_INSECURE_TARGETS: 'false',
      OPERATOR_WEBHOOK_URL: 'https://alerts.internal/hook?t0ken',
      OPERATOR_WEBHOOK_SECRET: SECRET,
    },
    'OPERATOR_WEBHOOK_URL is none that a webhook may have: nomes locais não são aceitos',
  ],
])('a poller does not start with %j, and says why', async (env, sentence) => {
  const starting = startPollerProcess(login.url, env);
  await expect(starting).rejects.toThrow(sentence);
  await expect(starting).rejects.not.toThrow(/t0ken/);
});
