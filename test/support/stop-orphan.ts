/** Stops embedded servers that a killed process left behind. */
import { join } from 'node:path';
import { findCluster } from '../../src/db/embedded/embedded-cluster.ts';
import { stopServer } from '../../src/db/embedded/embedded-server.ts';
import { tryLock } from '../../src/db/embedded/file-lock.ts';

/** Stops the server of `dataDir` when no living process holds it. True when it is stopped or there was none. */
export async function stopOrphan(dataDir: string): Promise<boolean> {
  const release = tryLock(join(dataDir, 'postgres.owner'));
  if (!release) return false;
  try {
    const cluster = await findCluster(dataDir);
    if (cluster) await stopServer(cluster, 'immediate');
    return true;
  } finally {
    release();
  }
}
