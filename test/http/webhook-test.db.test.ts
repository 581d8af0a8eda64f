import { Webhook as Svix } from 'svix';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { EMITTED_NAMES, EVENTS } from '../../src/contract/events.ts';
import type { DeliveryWithAttempts } from '../../src/contract/resources/delivery-resource.ts';
import type { ErrorBody } from '../../src/contract/errors.ts';
import { sign, signingKey } from '../../src/delivery/sending/signature.ts';
import { type DeliveryWorld, type Registered, startDeliveryWorld, type Subscriber } from '../support/delivery-world.ts';
import { hang, status } from '../support/receiver.ts';

let world: DeliveryWorld;
let partner: Subscriber;
let webhook: Registered;
let running: Promise<void>;
beforeAll(async () => {
  world = await startDeliveryWorld({ testWaitMs: 1_500 });
  running = world.engine.poller.run();
});
afterAll(async () => {
  await world.close();
  await running;
});
beforeEach(async () => {
  partner = await world.subscriber();
  webhook = await partner.register(['repasse.processado']);
});

const tryOut = (order?: object) =>
  partner.send<DeliveryWithAttempts & ErrorBody>('POST', `/v1/webhooks/${webhook.id}/teste`, order);

test('a test is signed, reaches that one webhook, and is answered with its outcome', async () => {
  const other = await partner.register();
  const answer = await tryOut();
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    webhook_id: webhook.id,
    evento: 'webhook.teste',
    emprestimo_id: null,
    status: 'entregue',
    tentativas: [{ numero: 1, resultado: 'entregue', status_http: 200 }],
  });
  expect(world.postsTo(other.path)).toEqual([]);
  const [post, ...more] = world.postsTo(webhook.path);
  expect(more).toEqual([]);
  expect(post?.headers).toMatchObject({ 'x-webhook-event': 'webhook.teste', 'x-webhook-delivery': answer.body.id });
  expect(post?.headers['user-agent']).toBe(`Carteiro/${manifest.version}`);
  expect(post?.headers).not.toHaveProperty('x-webhook-loan-version');
  const body = post?.body as Buffer;
  expect(post?.headers['x-webhook-signature']).toBe(sign(signingKey(webhook.secret), body));
  expect(() => new Svix(webhook.secret).verify(body.toString(), post?.headers as Record<string, string>)).not.toThrow();
  const envelope = JSON.parse(body.toString());
  expect(Object.keys(envelope)).toEqual(['evento', 'timestamp', 'parceiro_id', 'data']);
  expect(envelope).toMatchObject({
    evento: 'webhook.teste',
    parceiro_id: partner.id,
    data: { webhook_id: webhook.id },
  });
});

test('a test is in the list of deliveries and stands outside of the feed', async () => {
  const { body } = await tryOut();
  const listed = await partner.send<{ itens: { id: string }[] }>(
    'GET',
    `/v1/webhooks/${webhook.id}/entregas?evento=webhook.teste`,
  );
  expect(listed.body.itens.map(({ id }) => id)).toEqual([body.id]);
  expect((await partner.send<{ itens: unknown[] }>('GET', '/v1/eventos')).body.itens).toEqual([]);
});

test('a test that fails says how, and is tried again by the schedule', async () => {
  world.receiver.answerWith(status(418, 'sou um bule'), webhook.path);
  const { status: code, body } = await tryOut();
  expect(code).toBe(200);
  expect(body).toMatchObject({
    status: 'pendente',
    tentativas: [{ resultado: 'resposta_nao_2xx', status_http: 418, resposta: 'sou um bule' }],
  });
  expect(body.proxima_tentativa_em).not.toBeNull();
});

test('a test without an outcome in time is answered 202 with its delivery, and holds no connection meanwhile', async () => {
  world.receiver.answerWith(hang(), webhook.path);
  const many = await Promise.all(Array.from({ length: 14 }, () => tryOut()));
  expect(many.map((answer) => answer.status)).toEqual(Array.from({ length: 14 }, () => 202));
  expect(new Set(many.map((answer) => answer.body.id)).size).toBe(14);
});

test('a deactivated webhook is not tried out', async () => {
  await partner.send('DELETE', `/v1/webhooks/${webhook.id}`);
  const answer = await tryOut();
  expect([answer.status, answer.body.codigo]).toEqual([409, 'TRANSICAO_INVALIDA']);
});

test.each(EMITTED_NAMES)(
  'a test sends the example of %s, which fits its schema, and stands outside of the log',
  async (evento) => {
    const { status: code, body } = await tryOut({ evento });
    expect([code, body]).toMatchObject([200, { evento, emprestimo_id: null, status: 'entregue' }]);
    const post = world.postsTo(webhook.path).at(-1);
    expect(post?.headers).toMatchObject({ 'x-webhook-event': evento, 'x-webhook-delivery': body.id });
    expect(post?.headers).not.toHaveProperty('x-webhook-loan-version');
    expect(post?.headers['x-webhook-signature']).toBe(sign(signingKey(webhook.secret), post?.body as Buffer));
    const envelope = JSON.parse(post?.body.toString() ?? '');
    expect(Object.keys(envelope)).toEqual(['evento', 'timestamp', 'parceiro_id', 'data']);
    expect(envelope).toMatchObject({ evento, parceiro_id: partner.id });
    const data = EVENTS[evento].data.parse(envelope.data);
    expect(JSON.stringify(envelope.data)).toBe(JSON.stringify(data));

    const { sql } = world.api.database;
    const rows = await sql`select type from events where partner_id = ${partner.id}`;
    expect(rows.map(({ type }) => type)).toEqual(['webhook.teste']);
    expect((await partner.send<{ itens: unknown[] }>('GET', '/v1/eventos')).body.itens).toEqual([]);
    expect((await partner.send('GET', `/v1/eventos/${body.evento_id}`)).status).toBe(404);
  },
);

test.each([
  [{ evento: 'repasse.pago' }, 'evento'],
  [{ evento: 'webhook.teste' }, 'evento'],
  [{ evento: null }, 'evento'],
  [{ eventos: ['averbacao.concluida'] }, 'eventos'],
  [[], 'corpo'],
])('a test of %j is refused, and names the field', async (order, field) => {
  const { status: code, body } = await tryOut(order);
  expect([code, body.codigo, body.detalhes?.map(({ campo }) => campo)]).toEqual([400, 'ERRO_VALIDACAO', [field]]);
  expect(world.postsTo(webhook.path)).toEqual([]);
});
