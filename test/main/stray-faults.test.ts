/** A server that breaks PostgreSQL's protocol: neither a command nor a service ends by a promise that nobody holds. */
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { runCommand, sandboxOn, startCommand } from '../support/command.ts';

/** `R`, its length, the kind, and what follows. */
function authentication(kind: number, text: string): Buffer {
  const message = Buffer.alloc(9 + text.length);
  message.write('R');
  message.writeUInt32BE(8 + text.length, 1);
  message.writeUInt32BE(kind, 5);
  message.write(text, 9);
  return message;
}

test('a challenge that is none ends as a database out of reach, in a sentence, and a poller goes on trying', async () => {
  const asked = { times: 0 };
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(authentication(10, 'SCRAM-SHA-256\0\0'));
      socket.once('data', () => {
        asked.times += 1;
        socket.write(authentication(11, 'no challenge'));
      });
    });
    socket.on('error', () => undefined);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `postgres://someone:secret@127.0.0.1:${(server.address() as AddressInfo).port}/core`;
  const { code, stderr } = await runCommand(['partner', 'list'], sandboxOn(url));
  expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringMatching(/^carteiro: .*out of reach/) });
  expect(stderr).not.toMatch(/\n\s+at |secret/);

  const before = asked.times;
  const poll = startCommand(['poll'], sandboxOn(url));
  while (asked.times < before + 2) await once(server, 'connection');
  const { stderr: logged } = await poll.end('SIGTERM');
  expect(logged).not.toMatch(/\n\s+at |secret/);
  server.close();
});
