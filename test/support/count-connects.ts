/**
 * Records every TCP connect of this process where Node calls the system: below `net`, TLS, undici and their fallbacks from one
 * address to the next. Only connects to loopback are carried out.
 */
import { connect, createServer, type Socket } from 'node:net';
import { vi } from 'vitest';
import { listening } from './listening.ts';

type Connect = (this: unknown, request: unknown, address: string, port: number) => number;

const UV_ENETUNREACH = -101;
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

export interface CountedConnects {
  /** The addresses connected to so far, in order. */
  readonly addresses: string[];
  restore(): void;
}

async function tcpPrototype(): Promise<{ connect: Connect; connect6: Connect }> {
  const server = createServer((socket) => socket.destroy());
  const socket = connect(await listening(server), '127.0.0.1') as Socket & Record<'_handle', object>;
  const prototype = Object.getPrototypeOf(socket['_handle']) as { connect: Connect; connect6: Connect };
  socket.destroy();
  server.close();
  return prototype;
}

export async function countConnects(): Promise<CountedConnects> {
  const addresses: string[] = [];
  const prototype = await tcpPrototype();
  const spies = (['connect', 'connect6'] as const).map((method) => {
    const real = prototype[method];
    return vi.spyOn(prototype, method).mockImplementation(function counted(this: unknown, request, address, port) {
      addresses.push(address);
      return LOOPBACK.test(address) ? real.call(this, request, address, port) : UV_ENETUNREACH;
    });
  });
  return { addresses, restore: () => spies.forEach((spy) => spy.mockRestore()) };
}
