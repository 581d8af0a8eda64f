import type { Pool } from '../../../db/pool.ts';
import { readInteger, readUuid } from '../../arguments.ts';
import { command, option, Refusal } from '../../command.ts';

export const proof = command({
  summary: 'print the evidence of one delivery',
  takes: { delivery: { about: 'the delivery’s id', read: readUuid } },
  options: {
    size: option(
      '--size <seals>',
      'under the checkpoint of so many seals; the newest unless given',
      readInteger(1, 1e15),
    ),
  },
  help: `
The delivery's event, the body, its attempts and who had it sent again, each row with its way to a signed checkpoint. Store the
output as a file; audit check checks it without a database. A login that may not see CPFs gets it masked: body, answers, salts
and the rows with a CPF are withheld, and audit check says so.

Output: one line of JSON, as GET /v1/auditoria/entregas/{id}/prova answers.`,
  exits: { done: 'the evidence was printed', refused: 'there is no such delivery' },
  async run({ delivery, size = null }, { configure, print }) {
    const { config, log } = configure();
    const { readProof } = await import('../../../audit/proof/proof.ts');
    const { withJobPool } = await import('../../job-pool.ts');
    const { archiveReads } = await import('../../service/archives.ts');
    const read = async (pool: Pool) => readProof(pool, delivery, size, (await archiveReads(config, pool)).archived);
    const found = await withJobPool(config, log, read, { onStrange: 'accept', needs: 'auditor' });
    if (found === null) throw new Refusal(`there is no delivery ${delivery}`);
    print(JSON.stringify(found));
  },
});
