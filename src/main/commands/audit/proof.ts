import { readInteger, readUuid } from '../../arguments.ts';
import { command, option } from '../../command.ts';
import { READING, withJobPool } from '../../job-pool.ts';
import { orMissing } from '../../refused.ts';

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
  async run({ delivery, size = null }, line) {
    const { readProof } = await import('../../../audit/proof/proof.ts');
    const { archiveReads } = await import('../../service/archives.ts');
    const found = await withJobPool(
      line,
      async (pool, { config }) => readProof(pool, delivery, size, (await archiveReads(config, pool)).delivery),
      READING,
    );
    line.print(JSON.stringify(orMissing(found, 'delivery', delivery)));
  },
});
