import { writeHead } from '../../../audit/seals/chain.ts';
import { command } from '../../command.ts';

export const head = command({
  summary: 'print the newest seal, to be kept outside',
  help: `
The newest seal, to be kept where nobody who can write to the database can: a notary, a mailbox, a sheet of paper. It
stands for every row sealed so far.

Output: 19:9f3c…, number and hash; nothing when there is no seal yet.`,
  exits: { done: 'the newest seal was printed, or there is none yet' },
  async run(_, { configure, print }) {
    const { config, log } = configure();
    const { readLastSeal } = await import('../../../audit/seals/seal.ts');
    const { withJobPool } = await import('../../job-pool.ts');
    const last = await withJobPool(config, log, (pool) => pool.run(readLastSeal), { onStrange: 'accept' });
    if (last !== null) print(writeHead(last));
  },
});
