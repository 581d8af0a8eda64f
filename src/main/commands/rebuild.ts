import { command, flag } from '../command.ts';
import { runJob } from '../job-pool.ts';

export const rebuild = command({
  summary: 'fold the whole log again and repair the loans that differ from it',
  options: { check: flag('--check', 'change nothing; exit with 1 when something differs') },
  help: `
The table loans is the fold of each loan's events. This folds the whole log again, 500 loans at a time, and writes what
differs; then it applies the bonds and settlements of the log that are missing. Nothing differs unless somebody wrote to a
table by hand, the code's reading of an event has changed, or the projector logged an event that it could not apply. The API
may go on meanwhile: a version that it writes wins. What the projector has not seen yet is no difference.

Output: {"loans": 1200, "differences": ["0198…"], "repaired": 1}, where differences holds the ids of the loans (or streams).`,
  exits: { done: 'all is equal or was repaired', refused: '--check found a difference, or one could not be repaired' },
  async run({ check }, line) {
    const { rebuildLoans } = await import('../../core/projection/rebuild.ts');
    return runJob(line, async (pool, { log, progress }) => {
      const onProgress = (loans: number) => progress.show(`${loans} loans ${check ? 'compared' : 'refolded'}`);
      const summary = await rebuildLoans(pool, log, { repair: !check, onProgress });
      return { summary, isGood: summary.differences.length === summary.repaired };
    });
  },
});
