/** Clients that open connections and do not behave: how many are held, for how long, and who is still answered. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { networkOf } from '../../src/http/connections.ts';
import type { RunningServer, ServerOptions } from '../../src/http/server.ts';
import { endOf } from '../support/ends.ts';
import { serve as serveAt } from '../support/serve.ts';

const BOUNDS = { total: 1_000, perAddress: 1_000, proxies: [] } as const;
/** So long that a test which waits for one of them by mistake ends by its own time-out. */
const NEVER_MS = 600_000;
const TIMES = { headersMs: NEVER_MS, requestMs: NEVER_MS, stallMs: NEVER_MS, lingerMs: NEVER_MS, checkEveryMs: 20 };

const serve = (options: Partial<ServerOptions> = {}) =>
  serveAt(() => new Response('ok'), { bounds: BOUNDS, times: TIMES, ...options });

interface Client {
  readonly socket: Socket;
  /** All that was received, once the server has ended or cut the connection. */
  readonly gone: Promise<string>;
}

/** A client that never closes by itself: when the server ends its half, this one stays. */
async function open(server: RunningServer, text = '', from = '127.0.0.1'): Promise<Client> {
  const { port } = new URL(server.url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: from, allowHalfOpen: true });
  endOf(() => socket.destroy());
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
  socket.on('error', () => undefined);
  const gone = new Promise<string>((resolve) => {
    for (const event of ['end', 'close']) socket.once(event, () => resolve(received));
  });
  await Promise.race([once(socket, 'connect'), gone]);
  if (text !== '') socket.write(text);
  return { socket, gone };
}

/** One answer on a connection that stays open. */
async function ask({ socket }: Client, text = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'): Promise<string> {
  socket.write(text);
  const [chunk] = (await once(socket, 'data')) as [string];
  return chunk;
}

const many = <T>(count: number, make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

describe('a connection is given up', () => {
  const short = { ...TIMES, lingerMs: 50 };

  test('that sends nothing within the time for headers', async () => {
    const server = await serve({ times: { ...short, headersMs: 100 } });
    const silent = await many(100, () => open(server));
    // Without a word: a browser's connection that was opened ahead would give it to the next request as its answer.
    expect(new Set(await Promise.all(silent.map(({ gone }) => gone)))).toEqual(new Set(['']));
    await expect.poll(() => server.connections()).toBe(0);
  });

  test('that sends its headers too slowly, or its body', async () => {
    const server = await serve({ times: { ...short, headersMs: 100, requestMs: 200 } });
    const halfHeaders = await open(server, 'GET / HTTP/1.1\r\nHost: x\r\nX: ');
    const halfBody = await open(server, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{');
    expect(await halfHeaders.gone).toMatch(/^HTTP\/1.1 400 /);
    await halfBody.gone;
    await expect.poll(() => server.connections()).toBe(0);
  });

  test('that sent no HTTP, with an answer and although it does not close', async () => {
    const server = await serve({ times: short });
    const broken = await many(20, () => open(server, 'nonsense\r\n\r\n'));
    for (const { gone } of broken)
      expect(await gone).toMatch(/^HTTP\/1.1 400 .*\r\nX-Content-Type-Options: nosniff\r\n/s);
    await expect.poll(() => server.connections()).toBe(0);
  });

  test('that reads nothing of a long answer', async () => {
    const long = new Uint8Array(32 * 1024 * 1024);
    const server = await serve({ times: { ...short, stallMs: 100 }, fetch: () => new Response(long) });
    const stalled = await open(server);
    stalled.socket.pause();
    stalled.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect.poll(() => server.connections()).toBe(0);
  });

  test('that asked for another protocol by CONNECT, while an Upgrade is answered as the request that it is', async () => {
    const server = await serve({ times: short });
    await (
      await open(server, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')
    ).gone;
    const upgrading = await open(server);
    const text = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    expect(await ask(upgrading, text)).toMatch(/^HTTP\/1.1 200 /);
    expect(server.connections()).toBe(1);
  });
});

describe('of more connections than the bound', () => {
  test('those that wait longest without a request give way, and a well-behaved client is answered', async () => {
    const server = await serve({ bounds: { ...BOUNDS, total: 50 } });
    const silent = await many(300, () => open(server));
    await Promise.all(silent.slice(0, 200).map(({ gone }) => gone));
    expect(await ask(await open(server))).toMatch(/^HTTP\/1.1 200 /);
    expect(server.connections()).toBe(50);
  });

  test('none with a request under way gives way: the next one is refused, until an answer is out', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<Response>();
    const server = await serve({ bounds: { ...BOUNDS, total: 2 }, fetch: async () => (await released).clone() });
    const working = await many(2, () => open(server, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
    await expect.poll(() => server.requests()).toBe(2);
    expect(await (await open(server)).gone).toBe('');
    const answers = working.map(({ socket }) => once(socket, 'data'));
    release(new Response('late'));
    await Promise.all(answers);
    await expect.poll(() => server.requests()).toBe(0);
    expect(await ask(await open(server))).toMatch(/^HTTP\/1.1 200 /);
  });

  test('a request that waits for the rest of its body gives way, the one that waits longest first', async () => {
    const fetch = async (request: Request) => new Response(await request.text());
    const server = await serve({ bounds: { ...BOUNDS, total: 5 }, fetch });
    const slow: Client[] = [];
    for (let index = 0; index < 5; index += 1) {
      slow.push(await open(server, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n{'));
      await expect.poll(() => server.requests()).toBe(index + 1);
    }
    expect(await ask(await open(server))).toMatch(/^HTTP\/1.1 200 /);
    expect(await slow[0]?.gone).toBe('');
    expect(server.connections()).toBe(5);
    // The others are still waited for.
    expect(await ask(slow[4] as Client, ' '.repeat(59_999))).toMatch(/^HTTP\/1.1 200 /);
  });

  test('of one address only its own give way', async () => {
    const server = await serve({ bounds: { ...BOUNDS, perAddress: 5 } });
    const other = await open(server, '', '127.0.0.2');
    const crowd = await many(30, () => open(server));
    await expect.poll(() => server.connections()).toBe(6);
    expect(await ask(other)).toMatch(/^HTTP\/1.1 200 /);
    await Promise.all(crowd.slice(0, 20).map(({ gone }) => gone));
  });

  test("a proxy's address is bound by the total alone", async () => {
    const server = await serve({ bounds: { total: 20, perAddress: 5, proxies: ['127.0.0.0/8'] } });
    const crowd = await many(15, () => open(server));
    for (const client of crowd) expect(await ask(client)).toMatch(/^HTTP\/1.1 200 /);
    expect(server.connections()).toBe(15);
  });
});

test('requests sent at once on a connection are worked on one after the other, in their order, and only so many', async () => {
  let [working, most] = [0, 0];
  const fetch = async (request: Request) => {
    working += 1;
    most = Math.max(most, working);
    await new Promise((resolve) => setImmediate(resolve));
    working -= 1;
    return new Response(new URL(request.url).pathname);
  };
  const server = await serve({ fetch, times: { ...TIMES, lingerMs: 50 } });
  const texts = Array.from({ length: 500 }, (_, index) => `GET /${index} HTTP/1.1\r\nHost: x\r\n\r\n`);
  const { gone } = await open(server, texts.join(''));
  const answers = (await gone).split(/(?=HTTP\/1.1 )/);
  expect(most).toBe(1);
  expect(answers.map((answer) => answer.slice(9, 12))).toEqual([...Array.from({ length: 16 }, () => '200'), '503']);
  expect(answers.slice(0, 16).map((answer) => answer.split('\r\n\r\n')[1])).toEqual(
    Array.from({ length: 16 }, (_, index) => `/${index}`),
  );
});

test('for a client that sends many requests and reads nothing one answer is made', async () => {
  const long = new Uint8Array(32 * 1024 * 1024);
  const made: string[] = [];
  const fetch = (request: Request) => {
    made.push(new URL(request.url).pathname);
    return new Response(request.url.endsWith('/long') ? long : 'ok');
  };
  const server = await serve({ fetch });
  const clients = await many(40, () => open(server));
  for (const { socket } of clients) {
    socket.pause();
    socket.write('GET /long HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(16));
  }
  await expect.poll(() => server.requests()).toBe(40 * 16);
  // Whoever reads goes on meanwhile, one request after the other.
  const reader = await open(server);
  for (let poll = 0; poll < 50; poll += 1) expect(await ask(reader)).toMatch(/^HTTP\/1.1 200 /);
  expect(made.filter((path) => path === '/long')).toHaveLength(40);
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('the address %s is of the network %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
