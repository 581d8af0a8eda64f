/** Which connections to a receiver are kept while an attempt waits to be accepted there. */
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Connections } from '../../../src/delivery/sending/connections.ts';

const place = { origin: 'http://127.0.0.1:9', certificate: null, key: 'http://127.0.0.1:9' };
const socket = { destroyed: false, bytesRead: 0 } as Socket;

test('an idle one is closed when another has been seen waiting ten times, so a stall of our own closes none', async () => {
  const connections = new Connections(
    () => () => undefined,
    () => 0,
  );
  const open = () => Object.assign(connections.take(place, true), { socket });
  const [idle, served, waiting] = [open(), open(), open()];
  connections.release(idle);
  for (let look = 1; look < 10; look += 1) {
    connections.makeRoomFor(waiting);
    expect([look, idle.state]).toEqual([look, 'idle']);
  }
  connections.makeRoomFor(waiting);
  expect(idle.state).toBe('discarded');
  // One whose answer is complete makes room, too, until the other is accepted.
  connections.release(served);
  expect(served.state).toBe('discarded');
  waiting.served = 1;
  const next = open();
  connections.release(next);
  expect(next.state).toBe('idle');
  await connections.close();
});
