import { writeHead } from '../../../audit/seals/chain.ts';
import { readHead } from '../../arguments.ts';
import { command, option } from '../../command.ts';

export const verify = command({
  summary: 'hash all that was sealed again, and name the first broken batch',
  options: { head: option('--head <head>', 'a head that was kept outside', readHead) },
  help: `
Hashes every sealed row again, in batches, and compares each with its seal and each seal with the one before. A chain
that was cut short or made anew is whole by itself: give --head with a head that was kept elsewhere to see that too.

Output: {"selos": 19, "linhas": 1000448, "cabeca": "19:9f3c…", "rompido": null}; rompido is the first broken batch as
{"selo": 12, "motivo": "1 of its 65536 rows were removed"}, and the counts are of what came before it.`,
  exits: { done: 'the chain is whole', refused: 'it is not' },
  async run({ head: anchor = null }, { configure, print }) {
    const { config, log } = configure();
    const { verifySeals } = await import('../../../audit/seals/verify.ts');
    const { runJob } = await import('../../job-pool.ts');
    return runJob({ config, log, print, onStrange: 'accept' }, async (pool, progress) => {
      const onProgress = (rows: number) => progress.show(`${rows} rows hashed again`);
      const { seals, rows, head, broken } = await verifySeals(pool, { anchor, onProgress });
      const summary = {
        selos: seals,
        linhas: rows,
        cabeca: head === null ? null : writeHead(head),
        rompido: broken === null ? null : { selo: broken.number, motivo: broken.reason },
      };
      return { summary, isGood: broken === null };
    });
  },
});
