import { readUuid } from '../../arguments.ts';
import { command } from '../../command.ts';
import { runJob } from '../../job-pool.ts';

export const recall = command({
  summary: 'bring the history of one loan back that maintain took out of the log',
  takes: { loan: { about: 'its id', read: readUuid } },
  help: `
The events of a loan that has been over for KEEP_MONTHS leave the log with their months. Over HTTP, and in the other commands, they come
back by themselves for whoever needs them. This is for a loan core that appends in SQL: append_event answers CT423 for such a loan.

They come back as they were, to the last byte, in one transaction. maintain takes them again when the next month goes.

Output: {"emprestimo": "0199…", "voltou": true}; false: its history was not away.`,
  exits: { done: 'its history is in the log', refused: 'a file is lost or altered: standard error says which' },
  async run({ loan }, line) {
    const { archiveReads } = await import('../../service/archives.ts');
    return runJob(line, async (pool, { config }) => {
      const voltou = await (await archiveReads(config, pool)).bringBack('stream', loan);
      return { summary: { emprestimo: loan, voltou }, isGood: true };
    });
  },
});
