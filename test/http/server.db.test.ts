/** The API over real sockets: sizes without a length, connections that drain, requests that are none. */
import { Agent, globalAgent, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startApi } from '../support/api.ts';
import { serve } from '../support/serve.ts';
import { serverOf } from '../support/server-of.ts';

const api = await startApi();
const server = await serve(api.app.fetch);
const token = await api.token(await api.partner(), ['webhooks:read', 'webhooks:write', 'sandbox']);

const headers = () => ({ Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' });

/** Sends `bytes` chunked, without a Content-Length. */
function sendChunked(path: string, bytes: Buffer, agent = globalAgent): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}${path}`, { method: 'POST', headers: headers(), agent }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.write(bytes.subarray(0, 10));
    sent.end(bytes.subarray(10));
  });
}

/** Writes raw bytes and reads the answer, which is held to the description: the server gives some without the app. */
async function sendRaw(text: string): Promise<string> {
  const answer = await exchange(text);
  const [head = ''] = answer.split('\r\n\r\n');
  // Chunked or not.
  const [body = ''] = /\{.*\}/s.exec(answer) ?? [];
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  const headers = new Headers(lines.map((line) => line.split(/: (.*)/, 2) as [string, string]));
  const [method = '', path = ''] = text.split(' ');
  if (status === 400) api.described.checkUnread({ status, headers, text: body });
  else api.described.check(method, path, { status, headers, text: body });
  return answer;
}

/** Writes raw bytes and reads until the server closes or falls silent after an answer. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(server.url);
    let answer = '';
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
      socket.setTimeout(300, () => socket.destroy());
    });
    socket.on('close', () => resolve(answer)).on('error', reject);
  });
}

const GOOD = JSON.stringify({ url: 'https://parceiro.example.com/hooks', eventos: ['averbacao.concluida'] });

describe('a body without a length', () => {
  test('is read when it fits', async () => {
    expect((await sendChunked('/v1/webhooks', Buffer.from(GOOD))).status).toBe(201);
  });

  test('is cut at 64 KiB with 413', async () => {
    const answer = await sendChunked('/v1/webhooks', Buffer.alloc(300 * 1024, 0x20));
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.text).codigo).toBe('CORPO_MUITO_GRANDE');
  });

  test('that is too large leaves its connection to the requests behind it', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let round = 0; round < 20; round += 1) {
      expect((await sendChunked('/v1/webhooks', Buffer.alloc(300 * 1024, 0x20), agent)).status).toBe(413);
      expect((await sendChunked('/v1/webhooks', Buffer.from('{}'), agent)).status).toBe(400);
    }
    agent.destroy();
  });

  test('is refused where there should be none, when it is too large', async () => {
    const path = '/v1/sandbox/emprestimos/0198a000-0000-7000-8000-000000000001/assinatura';
    expect((await sendChunked(path, Buffer.alloc(300 * 1024, 0x20))).status).toBe(413);
  });
});

test('a body whose length is announced as too large is refused unread', async () => {
  const answer = await sendRaw(
    `POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{',
  );
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
});

test.each(['TRACE', 'PROPFIND', 'OPTIONS', 'QUERY'])('the method %s is a 405', async (method) => {
  const answer = await sendRaw(`${method} /v1/webhooks HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 405 /);
  expect(answer).toMatch(/\r\nallow: POST, GET, HEAD\r\n/i);
});

test('a request with an impossible Host is a 400 in the shape of every error', async () => {
  const answer = await sendRaw('GET /healthz HTTP/1.1\r\nHost: a b\\c\r\nConnection: close\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain('"codigo":"ERRO_VALIDACAO"');
});

test.each([
  ['is no HTTP', 'nonsense\r\n\r\n'],
  ['has headers without end', `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
])('a request that %s is a 400 in the shape of every error', async (_name, text) => {
  const [head = '', body = ''] = (await sendRaw(text)).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 400 /);
  expect(JSON.parse(body)).toMatchObject({ codigo: 'ERRO_VALIDACAO', requisicao_id: expect.any(String) });
});

test('a probe in HTTP/1.0 without a Host is answered', async () => {
  expect(await sendRaw('GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200/);
});

test.each([
  ['no Host', 'GET /v1/webhooks HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ['an unknown expectation', 'GET /v1/webhooks HTTP/1.1\r\nHost: x\r\nExpect: foo\r\nConnection: close\r\n\r\n'],
])('a request with %s is a 400 in the shape of every error', async (_what, bytes) => {
  const answer = await sendRaw(bytes);
  expect(answer).toMatch(/^HTTP\/1.1 400/);
  expect(answer).toMatch(/"codigo":"ERRO_VALIDACAO".*"requisicao_id":"/);
});

test('accepts that failed do not end the process', async () => {
  const listening = await serverOf(`${server.url}/healthz`);
  for (const code of ['ENETDOWN', 'EPROTO']) listening.emit('error', new Error(`accept ${code}`));
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
});

/** Whether a connection is refused; one that is taken is closed again. */
async function isRefused({ hostname, port }: URL): Promise<boolean> {
  const socket = connect(Number(port), hostname);
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}

test('closing lets the request under way end, and refuses new connections', async () => {
  let arrived = (): void => undefined;
  let letGo = (): void => undefined;
  const arrival = new Promise<void>((resolve) => (arrived = resolve));
  const released = new Promise<void>((resolve) => (letGo = resolve));
  const slow = await serve(async () => {
    arrived();
    await released;
    return new Response('done');
  });
  const underWay = fetch(slow.url);
  await arrival;
  const closed = slow.close();
  await expect.poll(() => isRefused(new URL(slow.url))).toBe(true);
  letGo();
  expect(await (await underWay).text()).toBe('done');
  await closed;
});

test('closing cuts what does not end in time', async () => {
  const stuck = await serve(() => new Promise<Response>(() => undefined));
  const underWay = fetch(stuck.url).catch(() => 'cut');
  await new Promise((resolve) => setTimeout(resolve, 50));
  await stuck.close(50);
  expect(await underWay).toBe('cut');
});
