import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { bodyOf } from '../../../src/delivery/sending/answer.ts';
import { createSender, type SenderOptions } from '../../../src/delivery/sending/send.ts';
import { makeAuthority } from '../../support/certificates.ts';
import { listening } from '../../support/listening.ts';
import {
  breakWhenReused,
  drip,
  flood,
  hang,
  raw,
  redirect,
  resetAtOnce,
  startReceiver,
  status,
  type Answer,
  type Receiver,
} from '../../support/receiver.ts';

const TIMEOUT_MS = 300;
/** Where no deadline is meant to pass. */
const LONG_MS = 120_000;
const body = Buffer.from('{"evento":"averbacao.concluida","data":{"erro":"não"}}');
const DELIVERY = '0190a0a0-0000-7000-8000-000000000001';
const EARLY = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const CREATED_HEAD = 'HTTP/1.1 201 Created\r\ncontent-length: 12\r\n\r\n';
const CREATED = `${CREATED_HEAD}HTTP/1.1 100`;
const headers = ['Content-Type', 'application/json', 'X-Webhook-Delivery', DELIVERY];

let receiver: Receiver;
let sender = createSender({ allowInsecure: true, timeoutMs: LONG_MS });

function newSender(options: Partial<SenderOptions> = {}) {
  return createSender({ allowInsecure: true, timeoutMs: LONG_MS, ...options });
}

beforeEach(async () => {
  receiver = await startReceiver();
  sender = newSender();
});
afterEach(() => sender.close());

const post = (url = `${receiver.url}/hook`) => sender.send({ url, body, headers });

async function answeredBy(answer: Answer) {
  receiver.answerWith(answer);
  return post();
}

/** An answer whose pieces do not come together. */
function inPieces([first = '', ...rest]: readonly string[]): Answer {
  return (one, response, socket) => {
    socket.write(first);
    if (rest.length > 0) setTimeout(() => inPieces(rest)(one, response, socket), 20);
  };
}

describe('a receiver that answers', () => {
  test('is sent the exact bytes, the headers as given and nothing of the URL but path and query', async () => {
    const result = await post(`${receiver.url}/hook?a=b%20c`);
    expect(result).toEqual({
      outcome: 'entregue',
      statusCode: 200,
      durationMs: expect.any(Number) as number,
      address: '127.0.0.1',
      error: null,
      answer: expect.stringMatching(/^date: .* GMT\n\n$/) as string,
    });
    expect(Number.isInteger(result.durationMs)).toBe(true);
    const [first] = receiver.posts;
    expect(first).toMatchObject({ method: 'POST', path: '/hook?a=b%20c', body });
    expect(first?.headers).toMatchObject({
      host: `127.0.0.1:${receiver.port}`,
      'content-type': 'application/json',
      'content-length': String(body.length),
      'x-webhook-delivery': DELIVERY,
    });
    expect(first?.headers).not.toHaveProperty('transfer-encoding');
  });

  test('is asked for its URL as it was written, an empty query included', async () => {
    await post(`${receiver.url}/a?`);
    await post(`${receiver.url}/`);
    expect(receiver.posts.map(({ path }) => path)).toEqual(['/a?', '/']);
  });

  test.each([200, 201, 202, 204, 299])('%i is a delivery', async (code) => {
    expect(await answeredBy(status(code))).toMatchObject({ outcome: 'entregue', statusCode: code });
  });

  test.each([300, 304, 400, 401, 404, 410, 418, 429, 500, 503, 599])('%i is not', async (code) => {
    expect(await answeredBy(status(code))).toMatchObject({
      outcome: 'resposta_nao_2xx',
      statusCode: code,
      error: null,
    });
  });

  test('has its header fields and the first 8 KiB of its body kept, and no more', async () => {
    const kept = async (answer: Answer) => (await answeredBy(answer)).answer ?? '';
    expect(bodyOf(await kept(status(500, 'falhou')))).toBe('falhou');
    expect(bodyOf(await kept(status(200, 'é'.repeat(5_000))))).toBe('é'.repeat(4_096));
    const fields = 'HTTP/1.1 503 no\r\nX-Reason: full\r\nSet-Cookie: id=1\r\nSet-Cookie: id=2\r\nconnection: close\r\n';
    const both = 'x-reason: full\nset-cookie: ***********\nset-cookie: ***********\n';
    expect(await kept(raw(`${fields}content-length: 2\r\n\r\nno`))).toBe(`${both}content-length: 2\n\nno`);
  });

  test('has less of its body kept where less is asked for, and with 0 nothing', async () => {
    const kept = async (keptBytes: number) => {
      const small = newSender({ keptBytes });
      receiver.answerWith(status(200, 'recebido'));
      const { answer } = await small.send({ url: `${receiver.url}/hook`, body, headers });
      await small.close();
      return answer;
    };
    expect(bodyOf((await kept(3)) ?? '')).toBe('rec');
    expect(await kept(0)).toBe(null);
  });

  test('keeps its connection for the next POST when the answer is small', async () => {
    for (const answer of [status(200, 'ok'), status(500, 'x'.repeat(8_000)), status(204)]) await answeredBy(answer);
    await post();
    expect(receiver.posts.map(({ connection }) => connection)).toEqual([1, 1, 1, 1]);
  });

  test('gets one connection for each POST in flight, never two on one', async () => {
    const held: (() => void)[] = [];
    receiver.answerWith((_post, response) => held.push(() => response.end()));
    const sent = Array.from({ length: 20 }, () => post());
    await receiver.received(20);
    expect(receiver.connections()).toBe(20);
    for (const answer of held) answer();
    await Promise.all(sent);
  });

  test('is not followed where it redirects to', async () => {
    receiver.answerWith(status(200), '/other');
    for (const code of [301, 302, 303, 307, 308]) {
      const result = await answeredBy(redirect(code, `${receiver.url}/other`));
      expect(result).toMatchObject({ outcome: 'resposta_nao_2xx', statusCode: code });
    }
    expect(receiver.posts.map(({ path }) => path)).toEqual(['/hook', '/hook', '/hook', '/hook', '/hook']);
  });

  test('may send interim answers first', async () => {
    const result = await answeredBy(raw(`${EARLY}${EARLY}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`));
    expect(result).toMatchObject({ outcome: 'entregue', statusCode: 200 });
  });

  test.each<[string, string[]]>([
    ['in one piece with its answer', [`${CONTINUE}${CREATED}`]],
    ['in a piece of its own', [CONTINUE, CREATED]],
    ['before an answer whose body looks like one', [CONTINUE, CREATED_HEAD, 'HTTP/1.1 100']],
    ['twice', [`${CONTINUE}${CONTINUE}`, CREATED]],
    ['after another interim answer', [`${EARLY}${CONTINUE}${CREATED}`]],
    ['with headers, in two pieces', [`HTTP/1.1 100 Continue\r\nx-a: HTTP/1.1 100\r\n`, `\r\n${CREATED}`]],
  ])('may say 100 Continue, which nobody asked for, %s', async (_how, pieces) => {
    for (let n = 0; n < 2; n += 1) {
      expect(await answeredBy(inPieces(pieces))).toMatchObject({
        outcome: 'entregue',
        statusCode: 201,
        answer: expect.stringMatching(/\n\nHTTP\/1\.1 100$/) as string,
      });
    }
    expect(receiver.connections()).toBe(1);
  });

  test('may say 100 Continue on the connection that takes the place of one that was closed with a 408', async () => {
    let kept: Socket | undefined;
    const keeping: Answer = (_post, _response, socket) => (kept = socket).write(CREATED);
    expect(await answeredBy(keeping)).toMatchObject({ outcome: 'entregue' });
    await new Promise(setImmediate);
    // The client finds it when it is about to write the next POST, and connects anew by itself.
    kept?.end('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n');
    expect(await answeredBy(raw(`${CONTINUE}${CREATED}`))).toMatchObject({ outcome: 'entregue', statusCode: 201 });
    expect(receiver.connections()).toBe(2);
  });

  test('closes after its answer without harm to the next POST', async () => {
    const closing = status(200, 'ok', { headers: { connection: 'close' } });
    expect(await answeredBy(closing)).toMatchObject({ outcome: 'entregue' });
    expect(await answeredBy(closing)).toMatchObject({ outcome: 'entregue' });
    expect(receiver.connections()).toBe(2);
  });
});

describe('the deadline', () => {
  beforeEach(async () => {
    await sender.close();
    sender = newSender({ timeoutMs: TIMEOUT_MS });
  });

  test.each<[string, Answer]>([
    ['no answer', hang()],
    ['a late answer', status(200, '', { delayMs: TIMEOUT_MS * 2 })],
    ['a status line without the rest of its headers', raw('HTTP/1.1 200 OK\r\n')],
    ['a header that drips', drip('HTTP/1.1 200 OK\r\nx-slow: ', 'a', 10)],
    ['interim answers that drip', drip('', 'HTTP/1.1 103 Early Hints\r\n\r\n', 10)],
    ['a flood of interim answers', flood('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100))],
  ])('ends %s', async (_what, answer) => {
    const result = await answeredBy(answer);
    expect(result).toMatchObject({ outcome: 'tempo_esgotado', statusCode: null, address: '127.0.0.1', answer: null });
    expect(result.durationMs).toBeGreaterThanOrEqual(TIMEOUT_MS);
  });

  test('ends a look-up that never answers, and nothing is sent when it does', async () => {
    let answer: (addresses: string[]) => void = () => undefined;
    await sender.close();
    sender = newSender({ timeoutMs: TIMEOUT_MS, resolve: () => new Promise((done) => (answer = done)) });
    const result = await post(`http://slow.example.com:${receiver.port}/`);
    expect(result).toMatchObject({ outcome: 'tempo_esgotado', address: null });
    answer(['127.0.0.1']);
    await sender.close();
    expect(receiver.connections()).toBe(0);
  });

  test('ends a TLS handshake that never comes, and closes its connection', async () => {
    const silent = createServer();
    const closed = new Promise<void>((resolve) => {
      silent.on('connection', (socket) =>
        socket
          .on('error', () => undefined)
          .once('close', resolve)
          .resume(),
      );
    });
    const port = await listening(silent);
    expect(await post(`https://localhost:${port}/`)).toMatchObject({ outcome: 'tempo_esgotado', statusCode: null });
    await closed;
  });

  test('that has passed when the connection is made keeps the POST from being written', async () => {
    let nowMs = 0;
    await sender.close();
    sender = newSender({
      timeoutMs: TIMEOUT_MS,
      now: () => nowMs,
      resolve: async () => {
        nowMs = TIMEOUT_MS;
        return ['127.0.0.1'];
      },
    });
    expect(await post(`http://late.example.com:${receiver.port}/`)).toMatchObject({ outcome: 'tempo_esgotado' });
    await sender.close();
    expect(receiver.posts).toEqual([]);
  });

  test('of one attempt does not end a later one', async () => {
    let nowMs = 0;
    await sender.close();
    sender = newSender({ timeoutMs: TIMEOUT_MS, now: () => nowMs });
    let answer = (): void => undefined;
    receiver.answerWith(hang(), '/first');
    receiver.answerWith((_post, response) => (answer = () => void response.writeHead(200).end()), '/second');
    const first = post(`${receiver.url}/first`);
    await receiver.received(1);
    nowMs = TIMEOUT_MS / 2;
    const second = post(`${receiver.url}/second`);
    await receiver.received(2);
    nowMs = TIMEOUT_MS;
    expect(await first).toMatchObject({ outcome: 'tempo_esgotado' });
    answer();
    expect(await second).toMatchObject({ outcome: 'entregue' });
  });
});

describe('a broken or hostile answer', () => {
  test.each<[string, Answer]>([
    ['a reset before the status line', resetAtOnce()],
    ['an end before the status line', raw('', 'end')],
    ['a reset within the headers', raw('HTTP/1.1 200 OK\r\nx-a: b\r\n', 'reset')],
    ['a garbage status line', raw('GARBAGE 200 OK\r\n\r\n')],
    ['another protocol', raw('SSH-2.0-OpenSSH_9.9\r\n')],
    ['a status line of four digits', raw('HTTP/1.1 2000 OK\r\n\r\n')],
    ['64 KiB of headers', raw(`HTTP/1.1 200 OK\r\nx-big: ${'a'.repeat(65_536)}\r\n\r\n`)],
    ['an upgrade nobody asked for', raw('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')],
  ])('%s is a connection error', async (_what, answer) => {
    const result = await answeredBy(answer);
    expect(result).toMatchObject({ outcome: 'erro_conexao', statusCode: null, answer: null });
    expect(result.error).toMatch(/^\w+: ./);
    expect(receiver.posts).toHaveLength(1);
  });

  test.each([
    ['a status below 100', 'HTTP/1.1 099 x\r\n\r\n'],
    ['an upgrade to nothing', 'HTTP/1.1 101 S\r\n\r\n'],
  ])('%s is told in words of this service, not in the source of its client', async (_what, answer) => {
    expect(await answeredBy(raw(answer))).toMatchObject({
      outcome: 'erro_conexao',
      error: 'RESPOSTA_INVALIDA: a resposta não segue HTTP/1.1',
    });
  });

  test.each([
    ['a folded field', 'X-A: b\r\n c\r\nContent-Length: 2\r\n', 'x-a: b c\ncontent-length: 2'],
    ['a field folded behind a length', 'Content-Length: 2\r\nX-A: b\r\n\tc\r\n', 'content-length: 2\nx-a: b c'],
    ['a tab behind a length', 'Content-Length: 2\t\r\n', 'content-length: 2'],
    ['a length given twice', 'Content-Length: 2\r\nContent-Length: 2\r\n', 'content-length: 2\ncontent-length: 2'],
    ['a blank before a colon', 'Content-Length : 2\r\n', 'content-length: 2'],
    ['line feeds alone', 'Content-Length: 2\n', 'content-length: 2'],
  ])('%s does not hide a status', async (_what, fields, kept) => {
    for (const code of [202, 500]) {
      const feed = fields.includes('\r') ? '\r\n' : '\n';
      const result = await answeredBy(raw(`${CONTINUE}HTTP/1.1 ${code} X${feed}${fields}${feed}ok`));
      const outcome = code === 202 ? 'entregue' : 'resposta_nao_2xx';
      expect(result).toMatchObject({ outcome, statusCode: code, error: null, answer: `${kept}\n\nok` });
    }
  });

  test.each([
    ['no length', 'Content-Length: -1', 'Invalid character in Content-Length'],
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 3', 'Content-Length'],
    ['a line that is no field', 'nothing', 'Invalid header token'],
  ])('%s is refused, with its status and why', async (_what, fields, reason) => {
    expect(await answeredBy(raw(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\nok`))).toMatchObject({
      outcome: 'erro_conexao',
      statusCode: null,
      error: `RESPOSTA_INVALIDA: a resposta não segue HTTP/1.1, status 200 (${reason})`,
    });
  });

  test.each<[string, Answer]>([
    ['a reset after the headers', raw('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc', 'reset')],
    ['a body shorter than announced', raw('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc', 'end')],
    ['a broken chunk', raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n')],
    ['a body that drips', drip('HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n', 'a', 10)],
    ['a body that never comes', raw('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n')],
    ['a body without end', flood('HTTP/1.1 200 OK\r\n\r\n', Buffer.alloc(65_536, 97))],
  ])('%s does not change the outcome of a 2xx', async (_what, answer) => {
    const result = await answeredBy(answer);
    expect(result).toMatchObject({ outcome: 'entregue', statusCode: 200, error: null });
    expect(bodyOf(result.answer ?? '').length).toBeLessThanOrEqual(8_192);
    expect(result.durationMs).toBeLessThan(LONG_MS);
  });

  test('a body without end is cut off soon after its first 8 KiB', async () => {
    let written = 0;
    const closed = new Promise<void>((resolve) => {
      receiver.answerWith((_post, _response, socket) => {
        socket.once('close', () => {
          written = socket.bytesWritten;
          resolve();
        });
        flood('HTTP/1.1 200 OK\r\n\r\n', Buffer.alloc(65_536, 97))(_post, _response, socket);
      });
    });
    await post();
    await closed;
    expect(written).toBeLessThan(16 * 1_048_576);
  });

  test('a compressed body is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1_048_576));
    const result = await answeredBy((_post, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    });
    const text = new TextDecoder().decode(bomb.subarray(0, 8_192)).replaceAll('\0', '\uFFFD');
    expect(text.startsWith(bodyOf(result.answer ?? '').replace(/\*+$/, ''))).toBe(true);
    expect(result.answer?.length).toBeLessThan(8_400);
  });

  test('bytes sent after an answer break nothing but their connection', async () => {
    const twice = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n';
    expect(await answeredBy(raw(twice))).toMatchObject({ outcome: 'entregue', statusCode: 200 });
    expect(await answeredBy(status(201))).toMatchObject({ outcome: 'entregue', statusCode: 201 });
  });
});

describe('a kept connection that the receiver has closed', () => {
  test.each(['end', 'reset'] as const)(
    'under the next POST (%s) costs no attempt: it is sent again at once',
    async (how) => {
      receiver.answerWith(breakWhenReused(how));
      expect(await post()).toMatchObject({ outcome: 'entregue' });
      expect(await post()).toMatchObject({ outcome: 'entregue', address: '127.0.0.1' });
      const places = receiver.posts.map(({ connection, requestOfConnection }) => [connection, requestOfConnection]);
      expect(places).toEqual([
        [1, 1],
        [1, 2],
        [2, 1],
      ]);
      expect(receiver.posts[2]?.body).toEqual(receiver.posts[1]?.body);
    },
  );

  test('is repeated once only', async () => {
    let answered = 0;
    receiver.answerWith((one, response, socket) => {
      if ((answered += 1) === 1) response.end();
      else resetAtOnce()(one, response, socket);
    });
    await post();
    expect(await post()).toMatchObject({ outcome: 'erro_conexao', address: '127.0.0.1' });
    expect(receiver.posts).toHaveLength(3);
  });

  test('is not repeated after a byte of the answer', async () => {
    receiver.answerWith((one, response, socket) => {
      if (one.requestOfConnection === 1) response.end();
      else raw('HTTP/1.1 2', 'reset')(one, response, socket);
    });
    await post();
    expect(await post()).toMatchObject({ outcome: 'erro_conexao' });
    expect(receiver.posts).toHaveLength(2);
  });

  test('while unused is replaced, and a fault of the new one is a fault', async () => {
    await post();
    receiver.closeConnections();
    receiver.answerWith(resetAtOnce());
    expect(await post()).toMatchObject({ outcome: 'erro_conexao' });
    expect(receiver.posts).toHaveLength(2);
  });

  test('while unused is not noticed by the next POST', async () => {
    await post();
    receiver.closeConnections();
    expect(await post()).toMatchObject({ outcome: 'entregue' });
    expect(receiver.posts).toHaveLength(2);
  });
});

describe('what is refused or cannot be reached', () => {
  test('a URL that production does not allow is a refused target, without a connection', async () => {
    await sender.close();
    sender = newSender({ allowInsecure: false });
    for (const url of [receiver.url, `https://127.0.0.1:${receiver.port}`, `https://localhost:${receiver.port}`]) {
      expect(await post(url)).toMatchObject({ outcome: 'destino_recusado', statusCode: null, address: null });
    }
    expect(receiver.connections()).toBe(0);
  });

  test('a name that resolves to a private address is a refused target, without a connection', async () => {
    await sender.close();
    sender = newSender({ allowInsecure: false, resolve: async () => ['127.0.0.1'] });
    expect(await post(`https://hooks.example.com:${receiver.port}/?segredo=1`)).toMatchObject({
      outcome: 'destino_recusado',
      error: expect.not.stringContaining('segredo') as string,
    });
    expect(receiver.connections()).toBe(0);
  });

  test('a name that is not known is a connection error', async () => {
    await sender.close();
    sender = newSender({ resolve: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })) });
    const result = await post('http://unknown.example.com/');
    expect(result).toMatchObject({ outcome: 'erro_conexao', error: expect.stringContaining('ENOTFOUND') as string });
  });

  test('a port where nobody listens is a connection error', async () => {
    const gone = await startReceiver();
    await gone.close();
    const result = await post(gone.url);
    expect(result).toMatchObject({ outcome: 'erro_conexao', error: expect.stringContaining('ECONNREFUSED') as string });
  });

  test('a request that the client cannot write is a fault of ours and rejects', async () => {
    await expect(sender.send({ url: receiver.url, body, headers: ['bad header', 'x'] })).rejects.toThrow('header');
    expect(receiver.connections()).toBe(0);
  });

  test('a closed sender rejects', async () => {
    await sender.close();
    await expect(post()).rejects.toThrow('closed');
  });
});

describe('a receiver that works on behind its answer', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n';
  let nowMs = 0;

  /** Its attempt is over, and its connection is still there. */
  async function answered(): Promise<Socket> {
    nowMs = 0;
    await sender.close();
    sender = newSender({ now: () => nowMs });
    const seen = new Promise<Socket>((resolve) => {
      receiver.answerWith((_post, _response, socket) => {
        socket.write(head);
        resolve(socket);
      });
    });
    const clock = setInterval(() => (nowMs += 50), 5);
    expect(await post()).toMatchObject({ outcome: 'entregue' });
    clearInterval(clock);
    return seen;
  }

  test('keeps its connection until its answer is there, and is sent the next POST on it', async () => {
    const socket = await answered();
    expect(socket.destroyed).toBe(false);
    socket.write('done');
    receiver.answerWith(status(200));
    await vi.waitFor(async () => {
      await post();
      expect(receiver.posts.at(-1)?.requestOfConnection).toBeGreaterThan(1);
    }, 300_000);
  });

  test('loses it after 15 s', async () => {
    const socket = await answered();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    nowMs += 15_000;
    await closed;
    expect(socket.destroyed).toBe(true);
  });

  test('loses it when it sends more than 64 KiB', async () => {
    const socket = await answered();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(Buffer.alloc(70_000, 97));
    await closed;
    expect(socket.destroyed).toBe(true);
  });
});

describe('a receiver that serves one connection at a time', () => {
  /** Answers a POST of a new connection only when the connections before have ended. */
  function oneAtATime(): Answer {
    const waiting: (() => void)[] = [];
    let served: Socket | null = null;
    return (_post, response, socket) => {
      const serve = () => {
        if (served !== socket) {
          served = socket;
          socket.once('close', () => {
            served = null;
            waiting.shift()?.();
          });
        }
        response.writeHead(200).end();
      };
      if (served === null || served === socket) serve();
      else waiting.push(serve);
    };
  }

  test('is not kept busy by a connection that waits for nothing', async () => {
    receiver.answerWith(oneAtATime());
    const both = await Promise.all([post(), post(), post()]);
    expect(both.map(({ outcome }) => outcome)).toEqual(['entregue', 'entregue', 'entregue']);
  });

  test('is let go by an idle connection when an attempt of it has waited for half a second', async () => {
    let nowMs = 0;
    await sender.close();
    sender = newSender({ now: () => nowMs });
    receiver.answerWith(oneAtATime());
    const first = post();
    const second = post();
    await Promise.race([first, second]);
    nowMs = 500;
    expect([(await first).outcome, (await second).outcome]).toEqual(['entregue', 'entregue']);
  });

  test('has no connection of ours for more than 10 s', async () => {
    let nowMs = 0;
    await sender.close();
    sender = newSender({ now: () => nowMs });
    await post();
    nowMs = 9_999;
    await post();
    nowMs = 10_000;
    await post();
    await post();
    expect(receiver.posts.map(({ connection }) => connection)).toEqual([1, 1, 1, 2]);
  });
});

describe('closing', () => {
  test('waits for the attempts in flight', async () => {
    receiver.answerWith(status(200, '', { delayMs: 100 }));
    const sent = post();
    await sender.close();
    expect(await sent).toMatchObject({ outcome: 'entregue' });
  });
});

describe('TLS', () => {
  const authority = makeAuthority();
  const secure = { allowInsecure: true, tls: { ca: authority.ca } };
  let good: Receiver;

  beforeAll(async () => (good = await startReceiver({ tls: authority.issue(['localhost']) })));

  async function sendTo(target: Receiver, options: Partial<SenderOptions>) {
    await sender.close();
    sender = newSender(options);
    return post(target.url);
  }

  test('a trusted certificate of the right name is a delivery', async () => {
    expect(await sendTo(good, secure)).toMatchObject({ outcome: 'entregue', address: '127.0.0.1' });
  });

  test('a certificate of an unknown authority is a TLS error and no POST is sent', async () => {
    const result = await sendTo(good, { tls: { ca: makeAuthority().ca } });
    expect(result).toMatchObject({ outcome: 'erro_tls', statusCode: null, address: '127.0.0.1' });
    expect(await sendTo(good, {})).toMatchObject({ outcome: 'erro_tls' });
    expect(good.posts).toHaveLength(1);
  });

  test.each<[string, ReturnType<typeof authority.issue>, string]>([
    ['an expired certificate', authority.issue(['localhost'], Date.now() - 30 * 86_400_000), 'CERT_HAS_EXPIRED'],
    ['a certificate of the future', authority.issue(['localhost'], Date.now() + 30 * 86_400_000), 'CERT_NOT_YET_VALID'],
    ['a certificate of another name', authority.issue(['other.example.com']), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('%s is a TLS error', async (_what, tls, code) => {
    const bad = await startReceiver({ tls });
    const result = await sendTo(bad, secure);
    await bad.close();
    expect(result).toMatchObject({ outcome: 'erro_tls', error: expect.stringContaining(code) as string });
    expect(bad.posts).toEqual([]);
  });

  test('a receiver that does not speak TLS is a TLS error', async () => {
    const result = await post(receiver.url.replace('http:', 'https:'));
    const error = expect.stringMatching(/^ERR_SSL_\w+: o servidor não fala TLS nessa porta$/) as string;
    expect(result).toMatchObject({ outcome: 'erro_tls', error });
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'a receiver of %s that misses our certificate says so',
    async (version) => {
      const strict = createTlsServer({
        ...authority.issue(['localhost']),
        ca: authority.ca,
        requestCert: true,
        minVersion: version,
        maxVersion: version,
      });
      strict.on('tlsClientError', () => undefined);
      const port = await listening(strict);
      await sender.close();
      sender = newSender(secure);
      const error = expect.stringContaining('um certificado de cliente') as string;
      expect(await post(`https://localhost:${port}`)).toMatchObject({ outcome: 'erro_tls', statusCode: null, error });
      strict.close();
    },
  );

  test('a fault is told in our own words, without advice or paths of Node or OpenSSL', async () => {
    const unknown = await sendTo(good, {});
    expect(unknown.error).toBe(
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE: a cadeia do certificado do servidor não leva a uma autoridade conhecida; ' +
        'ele deve enviar também os certificados intermediários',
    );
  });

  test('a certificate check cannot be turned off from the environment', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    const result = await sendTo(good, {});
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    expect(result).toMatchObject({ outcome: 'erro_tls' });
  });

  test('a kept TLS connection closed under the next POST costs no attempt', async () => {
    good.answerWith(breakWhenReused('end'));
    const before = good.posts.length;
    expect(await sendTo(good, secure)).toMatchObject({ outcome: 'entregue' });
    expect(await post(good.url)).toMatchObject({ outcome: 'entregue' });
    expect(good.posts.length - before).toBe(3);
  });
});
