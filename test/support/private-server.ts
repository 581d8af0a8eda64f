/** Embedded servers for tests, each in a temporary folder of its own and without fsync. */
import { startEmbedded } from '../../src/db/embedded.ts';
import { openCluster } from '../../src/db/embedded-cluster.ts';
import { ensureRunning, stopServer } from '../../src/db/embedded-server.ts';
import { silentLog } from './silent-log.ts';
import { makeTestFolder } from './test-folder.ts';

const SETTINGS = {
  fsync: 'off',
  'carteiro.allow_fsync_off': 'on',
  full_page_writes: 'off',
  max_connections: '300',
};

/** A PostgreSQL of one's own, to be stopped under the feet of the code under test. */
export interface PrivateServer {
  /** An empty database; the same after a restart. */
  readonly url: string;
  /** Ends the server and every session at once, as a crash does. */
  stopImmediately(): Promise<void>;
  /** Starts it again after a stop; what was committed is there. */
  start(): Promise<void>;
  /** Stops it and deletes its folder. */
  remove(): Promise<void>;
}

/** Starts an embedded server that no other test uses (about 1 s). */
export async function startPrivateServer(): Promise<PrivateServer> {
  const folder = await makeTestFolder();
  const embedded = await startEmbedded(folder.path, silentLog, { settings: SETTINGS, stop: 'immediate' });
  const cluster = await openCluster(folder.path);
  return {
    url: embedded.url,
    stopImmediately: () => stopServer(cluster, 'immediate'),
    start: async () => {
      const { port } = await ensureRunning(cluster);
      if (port !== Number(new URL(embedded.url).port)) throw new Error('somebody took the stopped server’s port');
    },
    remove: async () => {
      await embedded.leave();
      await folder.remove();
    },
  };
}
