/** The command `rebuild`: the projection `loans` compared with the log, and repaired. */
import type { Config } from '../config.ts';
import { rebuildLoans } from '../core/rebuild.ts';
import type { Logger } from '../log-lines.ts';
import { withJobPool } from './job-pool.ts';
import type { JobResult } from './jobs.ts';
import { openProgress } from './progress.ts';

export async function rebuild(
  config: Config,
  log: Logger,
  { isCheck }: { readonly isCheck: boolean },
): Promise<JobResult> {
  const progress = openProgress();
  try {
    return await withJobPool(config, log, async (pool) => {
      const onProgress = (loans: number) => progress.show(`${loans} loans ${isCheck ? 'compared' : 'refolded'}`);
      const summary = await rebuildLoans(pool, log, { repair: !isCheck, onProgress });
      return { summary, isGood: summary.differences.length === summary.repaired };
    });
  } finally {
    progress.end();
  }
}
