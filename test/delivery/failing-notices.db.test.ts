/** Notices of failing webhooks as their receivers get them, and what the partner does then: real sockets, the real API. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { addUp } from '../../src/audit/add-up-balance.ts';
import { readBalance } from '../../src/audit/balance.ts';
import { addDays, dayOf } from '../../src/contract/calendar.ts';
import { NOTICE_NAMES } from '../../src/contract/events.ts';
import { noticeOf } from '../../src/delivery/queue/maintenance/failing-notice.ts';
import { detectFailing } from '../../src/delivery/queue/maintenance/failing.ts';
import { sign, signingKey } from '../../src/delivery/sending/signature.ts';
import { readSettled } from '../../src/log/follow.ts';
import { keepOperatorWebhook } from '../../src/webhooks/operator-webhook.ts';
import { startDeliveryWorld } from '../support/delivery-world.ts';
import { advance, startEngine } from '../support/engine.ts';
import { status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';

const POLICY = { failingAfter: 3, failingHours: 2, suspendAfterDays: 3 };
const HOUR_S = 3_600;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

const notifyOperator = (url: string | null, secret = SECRET) =>
  keepOperatorWebhook(world.api.database.pool, world.api.vault, url === null ? null : { url, secret });
const look = async () => (await detectFailing(world.api.database.pool, POLICY, { now: engine.now, restS: 0 }))?.changes;

const world = await startDeliveryWorld({ testWaitMs: 1 });
const { pool, sql } = world.api.database;
const engine = startEngine(world.api.database.pool, {
  openSecret: (id, sealed) => world.api.vault.decrypt(id, sealed),
});
const partner = await world.subscriber();
const failing = await partner.register(['desembolso.falhou', ...NOTICE_NAMES]);
const listener = await partner.register(NOTICE_NAMES);
await notifyOperator(`${world.receiver.url}/operator`);
await look();
const readState = async () =>
  (await partner.send<{ estado: string }>('GET', `/v1/webhooks/${failing.id}/saude`)).body.estado;
const deliver = async () => {
  while ((await engine.poll()) > 0);
};
const envelopesAt = (path: string) => world.postsTo(path).map(({ body }) => JSON.parse(body.toString()));

async function failOver(hours: number): Promise<void> {
  world.receiver.answerWith(status(500), failing.path);
  await partner.emit();
  for (let hour = 0; hour <= hours; hour += 1) {
    await deliver();
    advance(engine, HOUR_S);
  }
}

test('the partner and the operator are told, signed, in the envelope of every event; a test that arrives ends the state', async () => {
  await failOver(3);
  await deliver();
  expect(await look()).toEqual([{ webhookId: failing.id, change: 'falhando' }]);
  await deliver();

  for (const [path, secret] of [
    [listener.path, listener.secret],
    ['/operator', SECRET],
  ] as const) {
    const [post, ...more] = world.postsTo(path);
    expect(more).toEqual([]);
    expect(post?.headers['x-webhook-event']).toBe('webhook.falhando');
    expect(post?.headers['x-webhook-signature']).toBe(sign(signingKey(secret), post?.body as Buffer));
    const envelope = JSON.parse(String(post?.body));
    expect(Object.keys(envelope)).toEqual(['evento', 'timestamp', 'parceiro_id', 'data']);
    expect(envelope).toMatchObject({
      evento: 'webhook.falhando',
      data: {
        webhook_id: failing.id,
        parceiro_id: partner.id,
        host: new URL(failing.url).host,
        ultimo_status_http: 500,
      },
    });
  }
  expect(await readState()).toBe('falhando');
  expect(envelopesAt(failing.path).map(({ evento }) => evento)).not.toContain('webhook.falhando');
  await untilSettled(world.api.database.sql);
  const feed = await partner.send<{ itens: { envelope: { evento: string } }[] }>(
    'GET',
    '/v1/eventos?evento=webhook.falhando',
  );
  expect(feed.body.itens).toHaveLength(1);

  world.receiver.answerWith(status(204), failing.path);
  await partner.send('POST', `/v1/webhooks/${failing.id}/teste`);
  await deliver();
  expect(await look()).toEqual([{ webhookId: failing.id, change: 'fim_da_falha' }]);
});

test('what was suspended is resumed by the partner as after its own deactivation', async () => {
  const before = world.postsTo('/operator').length;
  await failOver(3);
  expect(await look()).toEqual([{ webhookId: failing.id, change: 'falhando' }]);
  advance(engine, 3 * 24 * HOUR_S + 60);
  await partner.emit();
  await deliver();
  expect(await look()).toEqual([{ webhookId: failing.id, change: 'suspensao' }]);
  await deliver();
  expect(
    envelopesAt('/operator')
      .slice(before)
      .map(({ evento }) => evento),
  ).toEqual(['webhook.falhando', 'webhook.suspenso']);
  expect(await readState()).toBe('suspensa');
  expect((await partner.send<{ ativo: boolean }>('GET', `/v1/webhooks/${failing.id}`)).body.ativo).toBe(false);
  const suspended = `/v1/webhooks/${failing.id}/entregas?status=suspensa`;
  const { body } = await partner.send<{ itens: { id: string }[] }>('GET', suspended);
  expect(body.itens.length).toBeGreaterThan(0);

  world.receiver.answerWith(status(200), failing.path);
  const answer = await partner.send('PATCH', `/v1/webhooks/${failing.id}`, { ativo: true, retomar: true });
  expect(answer.status).toBe(200);
  await deliver();
  for (const { id } of body.itens) expect((await partner.read(id)).status).toBe('entregue');
  expect(await readState()).toBe('ativa');
  expect(await look()).toEqual([]);
});

test('notices are no facts: the balance closes without them, and no projection and no expectation meets one', async () => {
  const at = new Date();
  const run = {
    failures: 3,
    firstFailedAt: at,
    lastFailedAt: at,
    lastOutcome: 'erro_tls',
    lastStatusCode: null,
  } as const;
  const { id: webhookId, url } = failing;
  const reported = { webhookId, partnerId: partner.id, url, run, failingSince: at, at, isJudged: true, policy: POLICY };
  for (const change of ['falhando', 'suspensao'] as const) {
    const { name, data } = noticeOf(change, reported) ?? {};
    await sql`select make_notice(${webhookId}, ${name ?? ''}, ${JSON.stringify(data)}::text::json)`;
  }
  await partner.emit();
  await untilSettled(sql);
  const followed = await pool.run((tx) => readSettled(tx, { epoch: '0', tx: '0', position: '0' }, 1_000));
  expect(new Set(followed.map(({ type }) => type))).toEqual(new Set(['desembolso.falhou']));
  const day = dayOf(new Date());
  const balance = await addUp(readBalance(pool, addDays(day, -1), addDays(day, 1)), day, day, 100);
  expect(balance).toMatchObject({ fecha: true, total_diferencas: 0, total: { eventos: 0 } });
});

test("the operator's webhook is what the variables say: a line of history for each change, none for a start like the last", async () => {
  const history = async () =>
    (
      await sql<{ change: string; actor: string }[]>`
      select change, actor from webhook_history where webhook_id = operator_partner() order by position`
    ).map((line) => Object.values(line).join(' '));
  const url = `${world.receiver.url}/operator`;
  await Promise.all([notifyOperator(url), notifyOperator(url)]);
  expect(await history()).toEqual(['criacao servico']);
  await notifyOperator(`${url}/moved`);
  await notifyOperator(`${url}/moved`, `whsec_${randomBytes(32).toString('base64')}`);
  await notifyOperator(null);
  await notifyOperator(null);
  await notifyOperator(url);
  expect(await history()).toEqual(
    ['criacao', 'alteracao', 'segredo_trocado', 'desativacao', 'reativacao'].map((change) => `${change} servico`),
  );
});

test('the emitted names and the notices can be subscribed to together; the core cannot append a notice', async () => {
  const all = await partner.send<{ itens: unknown[] }>('GET', '/v1/eventos');
  expect(all.status).toBe(200);
  for (const name of NOTICE_NAMES) {
    const append = world.api.database.sql`
      select append_event(gen_random_uuid(), 0, ${name}, ${partner.id}, '{}'::json, 'core')`;
    await expect(append).rejects.toMatchObject({ code: 'CT404', message: expect.stringContaining('is a notice') });
  }
});
