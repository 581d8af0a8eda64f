/** The handshake of CloudEvents: where it is demanded, a webhook gets no URL that has not allowed our deliveries. */
import { expect, test } from 'vitest';
import type { ErrorBody } from '../../src/contract/errors.ts';
import { createSender } from '../../src/delivery/sending/send.ts';
import { handshakeBy } from '../../src/webhooks/gateway/handshake.ts';
import { callCommand, sandboxOn, startServing } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { startDeliveryWorld, type Registered } from '../support/delivery-world.ts';
import { endOf } from '../support/ends.ts';
import { insertPartner } from '../support/outbox.ts';
import { type Answer, redirect, startReceiver, status } from '../support/receiver.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const ORIGIN = 'carteiro.example.com';
const sender = createSender({ allowInsecure: true });
endOf(() => sender.close());
const world = await startDeliveryWorld({ handshake: handshakeBy(sender, ORIGIN) });
const partner = await world.subscriber();
const receiver = await startReceiver();
const allowing = (origin: string, code = 200) => status(code, '', { headers: { 'WebHook-Allowed-Origin': origin } });
const eventos = ['desembolso.falhou'];
const create = () =>
  partner.send<Registered & ErrorBody>('POST', '/v1/webhooks', { url: `${receiver.url}/hook`, eventos });

test.each<[string, Answer]>([
  ['our host', allowing(ORIGIN)],
  ['our host in capitals, with 204', allowing(ORIGIN.toUpperCase(), 204)],
  ['anybody', allowing('*')],
])('a URL that allows %s is taken', async (_what, answer) => {
  receiver.answerWith(answer);
  expect((await create()).status).toBe(201);
  const asked = receiver.posts.at(-1);
  expect([asked?.method, asked?.path, asked?.headers['webhook-request-origin']]).toEqual(['OPTIONS', '/hook', ORIGIN]);
});

test.each<[string, Answer, RegExp]>([
  [
    'allows another host',
    allowing('outro.example.com'),
    /respondeu 200 sem WebHook-Allowed-Origin: carteiro\.example\.com$/,
  ],
  ['says nothing of it', status(200), /respondeu 200 sem/],
  ['says so in its body alone', status(200, `\nwebhook-allowed-origin: ${ORIGIN}\n\n`), /respondeu 200 sem/],
  ['has no such method', status(405), /respondeu 405$/],
  ['leads elsewhere', redirect(302, 'http://127.0.0.1:1/'), /respondeu 302$/],
  ['ends the connection', (_post, _response, socket) => void socket.destroy(), /ECONNRESET|UND_ERR_SOCKET/],
])('a URL that %s is refused, by its name and the reason', async (_what, answer, reason) => {
  receiver.answerWith(answer);
  const refused = await create();
  expect([refused.status, refused.body.detalhes?.[0]?.campo]).toEqual([400, 'url']);
  expect(refused.body.detalhes?.[0]?.mensagem).toMatch(reason);
});

test('the core’s door asks the URL, too', async () => {
  const token = await world.api.token(undefined, ['nucleo']);
  const register = async () => {
    const body = { url: `${receiver.url}/nucleo`, eventos };
    return (await world.api.send('POST', `/v1/nucleo/parceiros/${partner.id}/webhooks`, { token, body })).status;
  };
  receiver.answerWith(status(405));
  expect(await register()).toBe(400);
  receiver.answerWith(allowing('*'));
  expect(await register()).toBe(201);
});

test('a change asks the new URL, and nobody where the URL stays', async () => {
  receiver.answerWith(allowing('*'));
  const { id, url } = (await create()).body;
  const asked = () => receiver.posts.filter(({ method }) => method === 'OPTIONS').length;
  const before = asked();
  receiver.answerWith(status(405));
  const change = (body: object) => partner.send('PATCH', `/v1/webhooks/${id}`, body);
  expect((await change({ url, eventos: ['averbacao.falhou'] })).status).toBe(200);
  expect(asked()).toBe(before);
  expect((await change({ url: `${url}/novo` })).status).toBe(400);
  receiver.answerWith(allowing('*'));
  expect((await change({ url: `${url}/novo` })).status).toBe(200);
  expect(asked()).toBe(before + 2);
});

test('WEBHOOK_HANDSHAKE demands it of a running API, by the host of PUBLIC_URL', async () => {
  receiver.answerWith(status(405));
  const [database, folder] = [await createTestDatabase(), await makeTestFolder()];
  const partnerId = await insertPartner(database.sql);
  const env = {
    ...sandboxOn(database.url),
    DATA_DIR: folder.path,
    WEBHOOK_HANDSHAKE: 'true',
    PUBLIC_URL: `https://${ORIGIN}`,
  };
  const api = await startServing('api', env);
  const words = ['token', '--partner', partnerId, '--scope', 'webhooks:write'];
  const authorization = `Bearer ${(await callCommand(words, env)).stdout.trim()}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const body = JSON.stringify({ url: `${receiver.url}/hook`, eventos });
  const send = async () => (await fetch(`${api.url}/v1/webhooks`, { method: 'POST', headers, body })).status;
  expect(await send()).toBe(400);
  receiver.answerWith(allowing(ORIGIN));
  expect(await send()).toBe(201);
  expect((await api.end('SIGTERM')).code).toBe(0);
});
