/** The API's server on a free port of the loopback, closed with the test or the file that started it. */
import { type RunningServer, type ServerOptions, startServer } from '../../src/http/server.ts';
import { endOf } from './ends.ts';

export async function serve(
  fetch: ServerOptions['fetch'],
  options: Partial<ServerOptions> = {},
): Promise<RunningServer> {
  const server = await startServer({ fetch, host: '127.0.0.1', port: 0, ...options });
  endOf(() => server.close(0));
  return server;
}
