import { migrate } from '../../src/db/migrations/migrate.ts';
import { silentLog } from './silent-log.ts';

/** A server of a test's own, with our schema in it. */
export async function migrated<Server extends { readonly url: string }>(starting: Promise<Server>): Promise<Server> {
  const server = await starting;
  await migrate(server.url, silentLog);
  return server;
}
