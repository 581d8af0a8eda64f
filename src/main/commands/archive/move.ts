import { readMonth, readText } from '../../arguments.ts';
import { command, required } from '../../command.ts';
import { runJob } from '../../job-pool.ts';
import { author, requiredReason } from '../../operator.ts';

export const move = command({
  summary: 'copy the files of an archived month to another place, and read them there from then on',
  takes: { month: { about: 'an archived month: 2026-10', read: readMonth } },
  options: {
    to: required('--to <place>', 'a directory, or s3://bucket/prefix', readText),
    reason: requiredReason,
    author,
  },
  help: `
Everything is verified where it lies, copied as it is, and verified in the new place. Only then is that registered, in a row that is
sealed like the rest. The files in the old place stay: take them away yourself, because worker erase does not reach them any more.
ARCHIVE_TO says where maintain puts the months to come.

Output: {"mes": "2026-10", "onde": "s3://lender-archive/carteiro"}.`,
  exits: { done: 'the month is in the new place', refused: 'it is where it was: standard error says why' },
  async run({ month, to, reason, author: actor }, line) {
    const { carryMonth } = await import('../../../archive/move-month.ts');
    const { placesOf } = await import('../../service/archives.ts');
    const openPlace = await placesOf(line.configure().config);
    return runJob(line, async (pool, { progress }) => {
      const onProgress = (files: number) => progress.show(`${files} files are copied`);
      const { place } = await carryMonth({ pool, openPlace, month, actor, reason, onProgress }, openPlace(to));
      return { summary: { mes: month, onde: place }, isGood: true };
    });
  },
});
