/** A relay between a process and its database that counts what the process says, to end it at a chosen message. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listening } from './listening.ts';

export interface MessageRelay {
  /** The database through the relay. */
  readonly url: string;
  /** Messages that clients sent so far, each a write of theirs. */
  readonly said: number;
  close(): Promise<void>;
}

/**
 * Starts a relay to the database at `url`. `hears` is called before each message, from 1; false: it is not passed on, and its
 * connection is cut.
 */
export async function startMessageRelay(url: string, hears: (message: number) => boolean): Promise<MessageRelay> {
  const through = new URL(url);
  const target = { port: Number(through.port), host: through.hostname };
  const sockets = new Set<Socket>();
  let said = 0;
  const server = createServer((client) => {
    const upstream = connect(target);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => sockets.delete(socket));
    }
    client.on('data', (message) => {
      said += 1;
      if (hears(said)) upstream.write(message);
      else client.destroy();
    });
    // Behind the last words, so that the server still hears them.
    client.once('close', () => upstream.end());
    upstream.pipe(client);
    upstream.once('close', () => client.end());
  });
  through.host = `127.0.0.1:${await listening(server)}`;
  return {
    url: through.href,
    get said() {
      return said;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
