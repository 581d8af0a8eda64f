import { spawnSync } from 'node:child_process';
import { Webhook as Svix } from 'svix';
import { beforeEach, expect, test, vi } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { EVENT_EXAMPLES } from '../../src/contract/event-examples.ts';
import { EMITTED_NAMES, EVENTS } from '../../src/contract/events.ts';
import type { DeliveryWithAttempts } from '../../src/contract/resources/delivery-resource.ts';
import type { ErrorBody } from '../../src/contract/errors.ts';
import type { Sql } from '../../src/db/pool.ts';
import { rescueOverdue } from '../../src/delivery/queue/rescuer.ts';
import { insertClaim } from '../support/outbox.ts';
import { sign, signingKey } from '../../src/delivery/sending/signature.ts';
import { muteWebhook } from '../../src/webhooks/muting.ts';
import { type Registered, startDeliveryWorld, type Subscriber } from '../support/delivery-world.ts';
import { hang, status } from '../support/receiver.ts';

let partner: Subscriber;
let webhook: Registered;
const world = await startDeliveryWorld({ testWaitMs: 1_500 });
const { sql } = world.api.database;
void world.engine.poller.run();
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

test('a test is marked, and an event is not', async () => {
  await partner.register();
  await tryOut();
  await tryOut({ evento: 'desembolso.falhou' });
  expect(world.postsTo(webhook.path).map(({ headers }) => headers['x-webhook-test'])).toEqual(['1', '1']);
  const subscribed = await partner.register();
  await partner.emit();
  const post = await vi.waitUntil(() => world.postsTo(subscribed.path)[0], { timeout: 300_000 });
  expect(post?.headers).toHaveProperty('x-webhook-event');
  expect(post?.headers).not.toHaveProperty('x-webhook-test');
  const { itens } = (await partner.send<{ itens: { teste: boolean; webhook_id: string }[] }>('GET', '/v1/entregas'))
    .body;
  for (const { teste, webhook_id } of itens) expect(teste).toBe(webhook_id === webhook.id);
});

test('a test that fails says how, and is over: it is never tried again', async () => {
  world.receiver.answerWith(status(418, 'sou um bule'), webhook.path);
  const { status: code, body } = await tryOut();
  expect(code).toBe(200);
  expect(body).toMatchObject({
    status: 'erro',
    proxima_tentativa_em: null,
    tentativas: [{ resultado: 'resposta_nao_2xx', status_http: 418, resposta: 'sou um bule' }],
  });
});

test('a test whose poller died is over too', async () => {
  const { body } = await tryOut();
  // In one transaction, so that the poller that lives sees nothing of it.
  await world.api.database.pool.transaction(async (tx) => {
    await tx`
      update deliveries set status = 'pendente', next_attempt_at = now(), finished_at = null where id = ${body.id}`;
    await insertClaim(tx as unknown as Sql, 'dead/1', [body.id], 3_600);
    await rescueOverdue(tx);
  });
  expect(await partner.read(body.id)).toMatchObject({ status: 'erro', total_tentativas: 2 });
});

test('a failed test is not counted as lost, nor among what is sent again by a period', async () => {
  world.receiver.answerWith(status(500), webhook.path);
  await tryOut();
  const health = await partner.send('GET', `/v1/webhooks/${webhook.id}/saude`);
  expect(health.body).toMatchObject({ em_erro: 0, ultimo_erro: null });
  const order = { desde: new Date(Date.now() - 3_600_000).toISOString(), simular: true };
  expect((await partner.send('POST', `/v1/webhooks/${webhook.id}/reenvios`, order)).body).toMatchObject({
    entregas: 0,
  });
});

test('a test of a muted webhook is refused at once, and says who can let it go', async () => {
  const operator = { actor: 'ana', reason: 'receptor em manutenção' };
  await world.api.database.pool.transaction((tx) => muteWebhook(tx, webhook.id, operator));
  const answer = await tryOut();
  expect([answer.status, answer.body.codigo]).toEqual([409, 'TRANSICAO_INVALIDA']);
  expect(answer.body.mensagem).toContain('silenciado pela operação');
  expect((await partner.send<{ itens: unknown[] }>('GET', '/v1/entregas')).body.itens).toEqual([]);
});

test('a test sends the example as the partner edited it, in the order of the catalog', async () => {
  const example = EVENT_EXAMPLES['desembolso.falhou'];
  const { motivo: _, ...rest } = example;
  const { status: code } = await tryOut({ evento: 'desembolso.falhou', data: { motivo: 'agência fechada', ...rest } });
  expect(code).toBe(200);
  const envelope = JSON.parse(world.postsTo(webhook.path).at(-1)?.body.toString() ?? '');
  expect(JSON.stringify(envelope.data)).toBe(JSON.stringify({ ...example, motivo: 'agência fechada' }));
});

test.for([
  ['Node', process.execPath, ['-e', 'process.stdout.write(JSON.stringify(JSON.parse(require("fs").readFileSync(0))))']],
  ['Python', 'python3', ['-c', 'import json,sys; sys.stdout.write(json.dumps(json.load(sys.stdin)))']],
  [
    'Python without blanks and escapes',
    'python3',
    [
      '-c',
      'import json,sys; sys.stdout.write(json.dumps(json.load(sys.stdin), separators=(",", ":"), ensure_ascii=False))',
    ],
  ],
  ['PHP', 'php', ['-r', 'echo json_encode(json_decode(stream_get_contents(STDIN)));']],
  [
    'PHP that keeps characters and slashes',
    'php',
    ['-r', 'echo json_encode(json_decode(stream_get_contents(STDIN)), 64 | 256 | 2048);'],
  ],
] as const)('a test that %s has read and written again is another text', async ([, program, args], context) => {
  for (const order of [undefined, { evento: 'desembolso.falhou' }]) {
    expect((await tryOut(order)).status).toBe(200);
    const sent = world.postsTo(webhook.path).at(-1)?.body as Buffer;
    const { error, stdout } = spawnSync(program, args, { input: sent });
    if (error !== undefined) context.skip(`${program}: ${error.message}`);
    expect(JSON.parse(stdout.toString())).toEqual(JSON.parse(sent.toString()));
    expect(stdout.equals(sent)).toBe(false);
  }
});

test.each([
  [{ motivo: 7 }, 'data.motivo'],
  [{ motivo: undefined }, 'data.motivo'],
  [{ inventado: 1 }, 'data.inventado'],
  [{ emprestimo_id: '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b' }, 'data.emprestimo_id'],
  [{ numero_emprestimo: '2026-00000001' }, 'data.numero_emprestimo'],
])('an edited example with %j is refused, and names the field', async (edit, field) => {
  const data = { ...EVENT_EXAMPLES['desembolso.falhou'], ...edit };
  const { status: code, body } = await tryOut({ evento: 'desembolso.falhou', data });
  expect([code, body.detalhes?.map(({ campo }) => campo)]).toEqual([400, [field]]);
  expect(world.postsTo(webhook.path)).toEqual([]);
});

test('a test without an outcome in time is answered 202 with its delivery, and holds no connection meanwhile', async () => {
  world.receiver.answerWith(hang(), webhook.path);
  const many = await Promise.all(Array.from({ length: 14 }, () => tryOut()));
  expect(many.map((answer) => answer.status)).toEqual(Array.from({ length: 14 }, () => 202));
  expect(new Set(many.map((answer) => answer.body.id)).size).toBe(14);
});

test('null is no order, as a generated Go client sends it', async () => {
  expect(await tryOut(null as unknown as object)).toMatchObject({ status: 200, body: { evento: 'webhook.teste' } });
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
  [{ data: {} }, 'evento'],
  [{ eventos: ['averbacao.concluida'] }, 'eventos'],
  [[], 'corpo'],
])('a test of %j is refused, and names the field', async (order, field) => {
  const { status: code, body } = await tryOut(order);
  expect([code, body.codigo, body.detalhes?.map(({ campo }) => campo)]).toEqual([400, 'ERRO_VALIDACAO', [field]]);
  expect(world.postsTo(webhook.path)).toEqual([]);
});
