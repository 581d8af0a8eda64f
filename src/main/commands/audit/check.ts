import { readHead, readText } from '../../arguments.ts';
import { command, EXIT, option, UsageError } from '../../command.ts';

export const check = command({
  summary: 'check the evidence of one delivery, without a database',
  takes: { file: { about: 'the proof, as it was answered', read: readText } },
  options: { head: option('--head <head>', 'a head that was kept outside', readHead) },
  help: `
Checks a file that GET /v1/auditoria/entregas/{id}/prova answered, without a database: the body, each row, each batch and
each seal of the file are hashed again, and the delivery's status is held against its attempts. --head compares with a head
that was kept elsewhere. Not proven: when the delivery was made and ended, and that no newer attempt was left out of the
file; the attempts' own times are. Of a masked file (made without the scope auditoria:cpf) the seals and the status are
checked, not the rows nor the body.

Output: {"confere": true, "motivo": null, "sem_selo": 0}; sem_selo counts the rows that no seal covered yet. confere is
false when something does not fit, and null when all that could be checked fits but motivo tells what could not.`,
  exits: { done: 'all of it was checked and fits', refused: 'it does not', outOfReach: null },
  async run({ file, head = null }, { print }) {
    const { readFile } = await import('node:fs/promises');
    const { checkProof } = await import('../../../audit/proof/check-proof.ts');
    const text = await readFile(file, 'utf8').catch((cause: Error) => {
      throw new UsageError(`the file ${file} cannot be read: ${cause.message}`);
    });
    const { fits, reason, unsealed } = checkProof(text, head);
    print(JSON.stringify({ confere: fits, motivo: reason, sem_selo: unsealed }));
    return fits === true ? EXIT.done : EXIT.refused;
  },
});
