/** Stops embedded servers that a killed process left behind. */
import { join } from 'node:path';
import { findCluster } from '../../src/db/embedded/embedded-cluster.ts';
import { stopServer } from '../../src/db/embedded/embedded-server.ts';
import { tryLock } from '../../src/db/embedded/file-lock.ts';

/** Stops the server of `dataDir` when no living process holds it. True when it is stopped or there was none. */
export async function stopOrphan(dataDir: string): Promise<boolean> {
  const locks = ['postgres.door', 'postgres.presence'].map((name) => tryLock(join(dataDir, name), 'exclusive'));
  try {
    if (!locks.every(Boolean)) return false;
    const cluster = await findCluster(dataDir);
    if (cluster) await stopServer(cluster, 'immediate');
    return true;
  } finally {
    for (const release of locks) release?.();
  }
}
