/** The command `sync-bonds`: the nightly sync for every partner. */
import type { Config } from '../config.ts';
import { syncBonds } from '../core/bonds.ts';
import type { Logger } from '../log-lines.ts';
import { simulatedBonds } from '../registry/simulated-bonds.ts';
import { withJobPool } from './job-pool.ts';
import type { JobResult } from './jobs.ts';
import { openProgress } from './progress.ts';

export async function syncAllBonds(config: Config, log: Logger): Promise<JobResult> {
  const progress = openProgress();
  try {
    return await withJobPool(config, log, async (pool) => {
      const deps = { pool, registry: simulatedBonds(pool), log };
      const scope = { partnerId: null, actor: 'sync-bonds', requestId: null };
      const counts = await syncBonds(deps, scope, ({ ended, new: rehired }) =>
        progress.show(`detected: ${ended} ends of bonds, ${rehired} rehires`),
      );
      const { ended, new: rehired, failed } = counts;
      return { summary: { desligamentos: ended, novos: rehired, failed }, isGood: failed === 0 };
    });
  } finally {
    progress.end();
  }
}
