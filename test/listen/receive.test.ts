/** The small receiver, as a stranger finds it: what it is sent does not steer the terminal, and half a body does not end it. */
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { printable, printDeliveries } from '../../src/listen/receive.ts';

test('control and invisible characters are written out, and lines cannot be taken for the receiver\u2019s own', () => {
  expect(printable('{"a":"\u001b]0;x\u0007\u202e"}\nSIGNATURE OK')).toBe(
    String.raw`{"a":"\u{1b}]0;x\u{7}\u{202e}"}` + '\n  SIGNATURE OK',
  );
  expect(printable('{"nome":"João 😀"}')).toBe('{"nome":"João 😀"}');
});

test('a client that leaves within its body is left alone, and the next one is answered', async () => {
  const seen: string[] = [];
  const receiver = await printDeliveries({ port: 0, secret: null, print: (text) => void seen.push(text) });
  const socket = connect(Number(new URL(receiver.url).port), '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on('close', () => resolve());
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf', () => socket.resetAndDestroy());
  await promise;
  expect((await fetch(receiver.url, { method: 'POST', body: 'whole' })).status).toBe(200);
  expect(seen.slice(1)).toEqual([expect.stringMatching(/^ {2} {2}signature not checked\n {2}whole$/)]);
  receiver.close();
});
