/** A trace that came with a request, or was told by the core's session, goes on with each delivery; with no SDK attached. */
import { afterEach, expect, test } from 'vitest';
import type { TransactionSql } from 'postgres';
import { createHmac } from 'node:crypto';
import { currentTraceparent } from '../../src/telemetry/traces.ts';
import { readTraceparent, writeTraceparent } from '../../src/telemetry/traceparent.ts';
import { startDeliveryWorld } from '../support/delivery-world.ts';
import { FAILED_MARGIN } from '../support/payloads.ts';
import { status } from '../support/receiver.ts';

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const BROKEN = [
  '',
  'x',
  TRACE.toUpperCase(),
  `${TRACE} `,
  TRACE.slice(1),
  TRACE.replace(/^00/, 'ff'),
  `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`,
  `${TRACE}-extra`,
  `${TRACE}\r\nX-Evil: 1`,
  `${TRACE}\n`,
];

const world = await startDeliveryWorld();
const { sql } = world.api.database;
const partner = await world.subscriber();
const webhook = await partner.register();
afterEach(() => world.receiver.answerWith(status(200)));

async function confirm(headers: Readonly<Record<string, string>>): Promise<number> {
  const token = await world.api.token(partner.id, ['sandbox']);
  const body = { cpf_trabalhador: '52998224725', origem: 'web' };
  return (await world.api.send('POST', '/v1/sandbox/autorizacoes', { token, body, headers })).status;
}

/** What the next delivery carried. */
async function delivered(): Promise<string | string[] | undefined> {
  await world.deliver();
  return world.postsTo(webhook.path).at(-1)?.headers['traceparent'];
}

test('the trace of a request is kept with its event, and each attempt carries it', async () => {
  world.receiver.answerWith(status(503));
  expect(await confirm({ traceparent: TRACE })).toBe(201);
  expect(await delivered()).toBe(TRACE);
  expect(await sql`select traceparent from events order by position desc limit 1`).toEqual([{ traceparent: TRACE }]);
  await sql`update deliveries set next_attempt_at = now() - interval '1 second' where status = 'pendente'`;
  world.receiver.answerWith(status(200));
  const before = world.postsTo(webhook.path).length;
  expect(await delivered()).toBe(TRACE);
  expect(world.postsTo(webhook.path).length).toBe(before + 1);
});

test('it is no part of what is signed', async () => {
  await confirm({ traceparent: TRACE });
  await delivered();
  const { body, headers } = world.postsTo(webhook.path).at(-1) as { body: Buffer; headers: Record<string, string> };
  const mac = createHmac('sha256', webhook.secret).update(body).digest('hex');
  expect(headers['x-webhook-signature']).toBe(`sha256=${mac}`);
  const key = Buffer.from(webhook.secret.replace(/^whsec_/, ''), 'base64');
  const signed = createHmac('sha256', key)
    .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`)
    .update(body);
  expect(headers['webhook-signature']).toBe(`v1,${signed.digest('base64')}`);
  expect(body.includes('4bf92f35')).toBe(false);
});

test('without a trace no header is sent, and the next request knows nothing of the one before', async () => {
  await confirm({ traceparent: TRACE });
  await delivered();
  expect(await confirm({})).toBe(201);
  expect(await delivered()).toBeUndefined();
  expect(currentTraceparent()).toBeNull();
});

test('a request with a broken trace is served as one without', async () => {
  for (const traceparent of BROKEN.filter((text) => !/[\r\n]/.test(text) && text === text.trim())) {
    expect(await confirm({ traceparent })).toBe(201);
    expect(await delivered()).toBeUndefined();
  }
});

test('the core tells it in its session; what is no trace is left out and refuses nothing', async () => {
  const appendIn = (report: (tx: TransactionSql) => Promise<unknown>) =>
    sql.begin(async (tx) => {
      await report(tx);
      await tx`
        select append_event(gen_random_uuid(), 0, 'margem.falhou', ${partner.id}, ${FAILED_MARGIN}::text::json, 'core')`;
    });
  await appendIn((tx) => tx`select set_config('carteiro.traceparent', ${TRACE}, true)`);
  expect(await delivered()).toBe(TRACE);
  await appendIn(() => Promise.resolve());
  expect(await delivered()).toBeUndefined();
  for (const broken of BROKEN) {
    await appendIn((tx) => tx`select set_config('carteiro.traceparent', ${broken}, true)`);
    expect(await sql`select traceparent from events order by position desc limit 1`).toEqual([{ traceparent: null }]);
    expect(await delivered()).toBeUndefined();
  }
});

test('what is read is what was written, and nothing else is a trace', () => {
  const context = readTraceparent(TRACE);
  expect(context && writeTraceparent(context)).toBe(TRACE);
  for (const broken of [null, undefined, ...BROKEN]) expect(readTraceparent(broken)).toBeNull();
});
