/** What a receiver may pour out before the headers of its answer end, and on a connection that nobody uses. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSender, type Sender } from '../../../src/delivery/sending/send.ts';
import { type Answer, flood, raw, type Receiver, startReceiver } from '../../support/receiver.ts';

const HEAD = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`;
const EARLY = 'HTTP/1.1 103 E\r\n\r\n';
/** Below the limit of one answer; the client counts only 12,000 of it. */
const TINY_HEADERS = `${HEAD}${'a:b\r\n'.repeat(6_000)}`;
const PIECE = Buffer.alloc(65_536, 97);

let receiver: Receiver;
let sender: Sender;
let nowMs: number;

beforeEach(async () => {
  receiver = await startReceiver();
  nowMs = 0;
  // No deadline and no limit of reading passes unless a test says so.
  sender = createSender({ allowInsecure: true, now: () => nowMs });
});
afterEach(async () => {
  nowMs += 60_000;
  await sender.close();
});

const post = (path = '/') => sender.send({ url: receiver.url + path, body: Buffer.from('{}'), headers: [] });

/** An answer whose two halves do not come together. */
function inTwo(first: string, second: string): Answer {
  return (_post, _response, socket) => {
    socket.write(first);
    setTimeout(() => socket.write(second), 30);
  };
}

/** Answers all with `answer`; resolves with the first socket that the sender has closed. */
function closedAfter(answer: Answer, path?: string): Promise<Socket> {
  return new Promise((resolve) => {
    receiver.answerWith((one, response, socket) => {
      socket.once('close', () => resolve(socket));
      answer(one, response, socket);
    }, path);
  });
}

describe('before its headers end', () => {
  test.each<[string, Answer]>([
    ['a status line without end', flood('HTTP/1.1 200 ', PIECE)],
    ['blank lines without end', flood('', '\r\n'.repeat(32_768))],
    ['tiny headers beyond 32 KiB', raw(`${HEAD}${'a:b\r\n'.repeat(6_600)}`)],
    ['a flood of interim answers', flood('', EARLY.repeat(1_000))],
    ['1,001 interim answers, and then one that is final', raw(`${EARLY.repeat(1_001)}${HEAD}\r\n`)],
  ])('%s is cut off, and the attempt waits for its deadline', async (_what, answer) => {
    const closed = closedAfter(answer);
    const sent = post();
    await closed;
    nowMs = 30_000;
    expect(await sent).toMatchObject({ outcome: 'tempo_esgotado', durationMs: 30_000, address: '127.0.0.1' });
  });

  test('long headers that do end, and 1,000 interim answers, are read', async () => {
    receiver.answerWith(raw(`${TINY_HEADERS}content-length: 0\r\n\r\n`));
    expect(await post()).toMatchObject({ outcome: 'entregue' });
    receiver.answerWith(raw(`${EARLY.repeat(1_000)}${HEAD}content-length: 0\r\n\r\n`));
    expect(await post()).toMatchObject({ outcome: 'entregue' });
  });

  test('what came before on a kept connection does not count', async () => {
    receiver.answerWith(raw(`${TINY_HEADERS}content-length: 0\r\n\r\n`));
    for (let n = 0; n < 4; n += 1) expect(await post()).toMatchObject({ outcome: 'entregue' });
    receiver.answerWith(inTwo(HEAD, 'content-length: 0\r\n\r\n'));
    expect(await post()).toMatchObject({ outcome: 'entregue' });
    expect(receiver.connections()).toBe(1);
  });

  test('20 answers that hold 30 KB each hold 256 KiB together at most, and others still arrive', async () => {
    let open = 0;
    const held = new Promise<void>((resolve) => {
      receiver.answerWith((one, response, socket) => {
        open += 1;
        socket.once('close', () => (open -= 1) === 8 && receiver.posts.length === 20 && resolve());
        raw(TINY_HEADERS)(one, response, socket);
      }, '/held');
    });
    const sent = Array.from({ length: 20 }, () => post('/held'));
    await held;
    receiver.answerWith(inTwo(`${HEAD}${'a:b\r\n'.repeat(800)}`, 'content-length: 0\r\n\r\n'));
    expect(await post()).toMatchObject({ outcome: 'entregue' });
    nowMs = 30_000;
    expect(new Set((await Promise.all(sent)).map(({ outcome }) => outcome))).toEqual(new Set(['tempo_esgotado']));

    receiver.answerWith(inTwo(TINY_HEADERS, 'content-length: 0\r\n\r\n'));
    expect(await post()).toMatchObject({ outcome: 'entregue' });
  });
});

test.each([
  ['a chunk extension', `${CHUNKED}3;`, PIECE],
  ['a body', `${HEAD}content-length: 20000\r\n\r\n`, Buffer.alloc(9_000, 97)],
  ['trailers', `${CHUNKED}0\r\n`, Buffer.from('a:b\r\n'.repeat(13_000))],
])('%s that is too long is cut off after the status line was taken', async (_what, head, piece) => {
  const closed = closedAfter(piece.length < 10_000 ? raw(head + piece.toString()) : flood(head, piece));
  expect(await post()).toMatchObject({ outcome: 'entregue', statusCode: 200 });
  // The rest of an answer may come for a while.
  nowMs = 15_000;
  await closed;
});

describe('on a connection that nobody uses', () => {
  const kept = `${HEAD}keep-alive: timeout=60\r\ncontent-length: 2\r\n\r\nok`;

  /** Delivers once and gives the receiver's end of the connection that was kept. */
  async function keptConnection(): Promise<Socket> {
    let keptSocket: Socket | undefined;
    receiver.answerWith((one, response, socket) => {
      keptSocket = socket;
      raw(kept)(one, response, socket);
    });
    expect(await post()).toMatchObject({ outcome: 'entregue' });
    if (keptSocket === undefined) throw new Error('nothing was received');
    return keptSocket;
  }

  test.each([
    ['a second answer', 'HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n'],
    ['a second success', kept],
    ['the first byte of one', 'H'],
    ['an interim answer', EARLY],
    ['a blank line', '\r\n'],
    ['garbage', '\0\0\0\0'],
  ])('%s closes it, and is not taken for the next answer', async (_what, unasked) => {
    const socket = await keptConnection();
    socket.write(unasked);
    await once(socket, 'close');
    receiver.answerWith(raw('HTTP/1.1 201 C\r\ncontent-length: 0\r\n\r\n'));
    expect(await post()).toMatchObject({ outcome: 'entregue', statusCode: 201 });
    expect(receiver.posts.map(({ connection }) => connection)).toEqual([1, 2]);
  });

  test('nothing that comes leaves it as it was', async () => {
    await keptConnection();
    await post();
    expect(receiver.connections()).toBe(1);
  });
});
