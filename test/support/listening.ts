/** Servers of a test's own: on a free port of the loopback, closed with the test or the file that made them. */
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { endOf } from './ends.ts';

/** Resolves with the port when `server` takes connections. */
export async function listening(server: Server | HttpServer, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  endOf(async () => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}
