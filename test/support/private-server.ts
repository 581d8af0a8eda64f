/** Embedded servers for tests, each in its own temporary folder and without fsync. */
import { startEmbedded } from '../../src/db/embedded/embedded.ts';
import { openCluster } from '../../src/db/embedded/embedded-cluster.ts';
import { ensureRunning, stopServer } from '../../src/db/embedded/embedded-server.ts';
import { silentLog } from './silent-log.ts';
import { endOf } from './ends.ts';
import { makeTestFolder } from './test-folder.ts';

const SETTINGS = {
  fsync: 'off',
  'carteiro.allow_fsync_off': 'on',
  full_page_writes: 'off',
  max_connections: '300',
};

/** Starts an embedded server that no other test uses (about 1 s); `settings` come on top of those of every test. */
export async function startPrivateServer(settings: Readonly<Record<string, string>> = {}) {
  const folder = await makeTestFolder();
  const embedded = await startEmbedded(folder.path, silentLog, {
    settings: { ...SETTINGS, ...settings },
    stop: 'immediate',
  });
  const cluster = await openCluster(folder.path);
  return {
    /** An empty database; the same after a restart. */
    url: embedded.url,
    /** Ends the server and every session at once, as a crash does. */
    stopImmediately: () => stopServer(cluster, 'immediate'),
    /** Starts it again after a stop, with its committed data. */
    start: async () => {
      const { port } = await ensureRunning(cluster);
      if (port !== Number(new URL(embedded.url).port)) throw new Error('somebody took the stopped server’s port');
    },
    /** Stops it and deletes its folder. */
    remove: endOf(async () => {
      await embedded.leave();
      await folder.remove();
    }),
  };
}
