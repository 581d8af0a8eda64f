/** Small bodies that do not come, over real sockets: how long they are waited for, and how many a partner may have. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { MAX_UNDER_WAY } from '../../src/http/auth/rate-limit.ts';
import type { RunningServer } from '../../src/http/server.ts';
import { startApi } from '../support/api.ts';
import { startPainelWorld } from '../support/painel.ts';
import { serve } from '../support/serve.ts';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Begins a POST of 60,000 bytes whose body does not come; `answer` is all that is received until the server closes. */
function begin(server: RunningServer, path: string, headers: Readonly<Record<string, string>>, body = '{') {
  const length = headers['Transfer-Encoding'] === undefined ? 'Content-Length: 60000\r\n' : '';
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  sockets.push(socket);
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
  socket.write(`POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${length}${lines.join('')}\r\n${body}`);
  return { socket, answer: once(socket, 'close').then(() => received) };
}

const json = (token: string) => ({ Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' });

test('a small body that is not there in its time is 400, with the rule, and its connection is closed', async () => {
  const api = await startApi({ bodyPace: { graceMs: 50, bytesPerS: Infinity } });
  const server = await serve(api.app.fetch);
  const token = await api.token(await api.partner(), ['webhooks:write']);
  const chunked = { ...json(token), 'Transfer-Encoding': 'chunked' };
  for (const path of ['/v1/webhooks', `/v1/entregas/${crypto.randomUUID()}/reenvio`, '/v1/nada']) {
    const answer = await begin(server, path, json(token)).answer;
    expect(answer).toMatch(path === '/v1/nada' ? /^HTTP\/1.1 404 / : /^HTTP\/1.1 400 [^]*"ERRO_VALIDACAO"[^]*devagar/);
  }
  expect(await begin(server, '/v1/webhooks', chunked, '1\r\n{\r\n').answer).toMatch(/^HTTP\/1.1 400 /);
});

test('a partner has so many requests under way, the next is 429 at once; another partner and the core go on', async () => {
  // Its bodies wait for as long as the test lasts, however slow the machine is.
  const api = await startApi({ bodyPace: { graceMs: 3_600_000, bytesPerS: Infinity } });
  const server = await serve(api.app.fetch);
  const token = await api.token(await api.partner(), ['webhooks:read', 'webhooks:write']);
  const other = await api.token(await api.partner(), ['webhooks:read']);
  const core = await api.token(undefined, ['nucleo']);
  const status = async (path: string, asking: string) =>
    (await fetch(`${server.url}${path}`, { headers: { Authorization: `Bearer ${asking}` } })).status;
  expect(await status('/v1/webhooks', token)).toBe(200);

  for (let count = 0; count < MAX_UNDER_WAY; count += 1) begin(server, '/v1/webhooks', json(token));
  await expect.poll(() => status('/v1/webhooks', token)).toBe(429);
  const { answer } = begin(server, '/v1/webhooks', json(token));
  expect(await answer).toMatch(/^HTTP\/1.1 429 [^]*retry-after: 1[^]*"LIMITE_DE_REQUISICOES"[^]*em andamento/i);
  expect([await status('/v1/webhooks', other), await status('/v1/nucleo/catalogo', core)]).toEqual([200, 200]);

  // Each gives its place back: those that go away, and those whose answer is out.
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(() => status('/v1/webhooks', token)).toBe(200);
  for (let count = 0; count < 3 * MAX_UNDER_WAY; count += 1) expect(await status('/v1/webhooks', token)).toBe(200);
});

test('a form of the page that does not come whole is refused by the same rule, without a session', async () => {
  const painel = await startPainelWorld();
  const form = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: 'http://127.0.0.1' };
  const { socket, answer } = begin(painel.server, '/painel/entrar', form, 'token=');
  socket.end();
  expect(await answer).toMatch(/^HTTP\/1.1 400 /);
});
