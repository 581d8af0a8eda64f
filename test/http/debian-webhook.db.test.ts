/**
 * A receiver that knows the contract's header alone: Debian's package `webhook` (apt-get install webhook), kept through a
 * whole rotation.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HEADER_SIGNATURE } from '../../src/contract/delivery.ts';
import { type DeliveryWorld, startDeliveryWorld, type Subscriber } from '../support/delivery-world.ts';
import { freePorts } from '../support/free-ports.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const PROGRAM = 'webhook';
const isMissing = spawnSync(PROGRAM, ['-version']).error !== undefined;
if (isMissing) console.info('skipped: no program `webhook` here (Debian: apt-get install webhook)');

let world: DeliveryWorld;
let partner: Subscriber;
let webhook: { id: string; secret: string };
let folder: string;
let port: number;
let receiver: ChildProcess | null = null;

beforeEach(async () => {
  if (isMissing) return;
  folder = (await makeTestFolder()).path;
  [port = 0] = await freePorts(1);
  world = await startDeliveryWorld();
  partner = await world.subscriber();
  const url = `http://127.0.0.1:${port}/hooks/carteiro`;
  const made = await partner.send<typeof webhook>('POST', '/v1/webhooks', { url, eventos: ['desembolso.falhou'] });
  webhook = made.body;
});
afterEach(stop);

async function stop(): Promise<void> {
  if (receiver === null || receiver.exitCode !== null) return;
  const gone = once(receiver, 'exit');
  receiver.kill();
  await gone;
}

/** Starts it anew as one that accepts what any of these secrets has signed. */
async function accept(...secrets: readonly string[]): Promise<void> {
  await stop();
  const parameter = { source: 'header', name: HEADER_SIGNATURE };
  const rules = secrets.map((secret) => ({ match: { type: 'payload-hmac-sha256', secret, parameter } }));
  const hook = {
    id: 'carteiro',
    'execute-command': '/bin/true',
    'trigger-rule': { or: rules },
    // Without it the first secret that does not fit is an error of its own, and the second is not tried.
    'trigger-signature-soft-failures': true,
    'trigger-rule-mismatch-http-response-code': 403,
  };
  const file = path.join(folder, 'hooks.json');
  await writeFile(file, JSON.stringify([hook]));
  receiver = spawn(PROGRAM, ['-hooks', file, '-ip', '127.0.0.1', '-port', String(port)], { stdio: 'ignore' });
  while (!(await accepts())) await sleep(10);
}

async function accepts(): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}

/** One more event; returns the outcomes of all attempts so far, in order. */
async function deliverOne(): Promise<string[]> {
  await partner.emit();
  await world.deliver();
  const rows = await world.api.database.sql<{ outcome: string }[]>`
    select number || ' ' || outcome || coalesce(' ' || status_code, '') as outcome from attempts order by recorded_at, delivery_id`;
  return rows.map((row) => row.outcome);
}

const ask = (method: string, end = '', body?: unknown) =>
  partner.send<{ secret: string }>(method, `/v1/webhooks/${webhook.id}/segredo${end}`, body);

test.skipIf(isMissing)('accepts every first attempt through a rotation in two steps', async () => {
  await accept(webhook.secret);
  await deliverOne();
  const { body } = await ask('POST', '', { vale_em: new Date(Date.now() + 3_600_000).toISOString() });
  await deliverOne();
  await accept(webhook.secret, body.secret);
  await deliverOne();
  expect((await ask('POST', '/ativar')).status).toBe(200);
  await deliverOne();
  await accept(body.secret);
  await deliverOne();
  expect((await ask('DELETE', '/anterior')).status).toBe(204);
  expect(await deliverOne()).toEqual(Array.from({ length: 6 }, () => '1 entregue 200'));
});

test.skipIf(isMissing)('refuses from the moment of a rotation in one step', async () => {
  await accept(webhook.secret);
  await deliverOne();
  await ask('POST');
  expect(await deliverOne()).toEqual(['1 entregue 200', '1 resposta_nao_2xx 403']);
});
