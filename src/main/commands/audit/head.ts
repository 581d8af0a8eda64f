import { command } from '../../command.ts';
import { READING, withJobPool } from '../../job-pool.ts';

export const head = command({
  summary: 'print the newest checkpoint, to be kept outside',
  help: `
The newest signed head of the log, to be kept where nobody who can write to the database can: a notary, a mailbox, a sheet of
paper. It stands for every row under it. Every delivery carries it, too, in X-Carteiro-Checkpoint.

Output: one line, origin, number of seals, root and signature, as the header has it; 19:9f3c…, number and root, where no key signs;
nothing when there is no seal yet.`,
  exits: { done: 'the newest head was printed, or there is none yet' },
  async run(_, line) {
    const { checkpointHeader } = await import('../../../audit/checkpoint/checkpoint.ts');
    const { writeHead } = await import('../../../audit/checkpoint/checkpoint.ts');
    const { readCheckpoint } = await import('../../../audit/checkpoint/stored.ts');
    const { readTreeHead } = await import('../../../audit/seals/seal-log.ts');
    const { signed, own } = await withJobPool(
      line,
      (pool) => pool.run(async (sql) => ({ signed: await readCheckpoint(sql), own: await readTreeHead(sql) })),
      READING,
    );
    if (signed !== null) line.print(checkpointHeader(signed.note));
    else if (own !== null) line.print(writeHead(own));
  },
});
