/** The HTTP server of this process that answers a request, to have its events happen. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';

const BEGUN = 'http.server.request.start';

export async function serverOf(url: string): Promise<Server> {
  const servers: Server[] = [];
  const note = (message: unknown) => servers.push((message as { server: Server }).server);
  subscribe(BEGUN, note);
  await (await fetch(url)).arrayBuffer();
  unsubscribe(BEGUN, note);
  const [server] = servers;
  if (server === undefined) throw new Error(`no server of this process answered ${url}`);
  return server;
}
