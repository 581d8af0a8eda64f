import { readMonth } from '../../arguments.ts';
import { command } from '../../command.ts';
import { runJob } from '../../job-pool.ts';
import { author, requiredReason } from '../../operator.ts';

export const restore = command({
  summary: 'bring the rows of a removed month back into the database',
  takes: { month: { about: 'a month that maintain removed: 2026-10', read: readMonth } },
  options: { author, reason: requiredReason },
  help: `
The month's files are verified first; then its deliveries and attempts come back as they were, with their places in the log, in
batches. What is there already stays as it is, so a run that was cut short is run again. The files stay where they are. maintain
leaves a restored month alone until archive has written it again.

Output: {"mes": "2026-10", "linhas": 1000448}.

  carteiro archive restore 2026-10 --reason 'auditoria 812'`,
  exits: { done: 'the month is back', refused: 'it is not: standard error says why; run it again' },
  async run({ month, author: actor, reason }, line) {
    const { restoreMonth } = await import('../../../archive/move-month.ts');
    const { placesOf } = await import('../../service/archives.ts');
    const openPlace = await placesOf(line.configure().config);
    return runJob(line, async (pool, { progress }) => {
      const onProgress = (rows: number) => progress.show(`${rows} rows are back`);
      const linhas = await restoreMonth({ pool, openPlace, month, actor, reason, onProgress });
      return { summary: { mes: month, linhas }, isGood: true };
    });
  },
});
