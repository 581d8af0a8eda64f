import type { Pool } from '../../../db/pool.ts';
import { DOCUMENT_MODES, ISSUANCE_MODES, SIGNING_MODES } from '../../../contract/statuses.ts';
import { codeOf } from '../../../db/unavailable.ts';
import { readUuid } from '../../arguments.ts';
import { choiceOr, command, flag, option, required, UsageError } from '../../command.ts';
import { actorOf } from '../../../steering/author.ts';
import { author, readHistoryLine, steer } from '../../operator.ts';

export const create = command({
  summary: 'create a partner and print it as JSON; the first choice of each option is the default',
  options: {
    name: required('--name <name>', 'the name, for people; no CPF', readHistoryLine),
    id: option('--id <uuid>', 'the id that the core has for it; without it a new one', readUuid),
    signing: choiceOr('--signing <mode>', 'who signs', SIGNING_MODES),
    documents: choiceOr('--documents <mode>', 'how documents come', DOCUMENT_MODES),
    issuance: choiceOr('--issuance <mode>', 'how loans are issued', ISSUANCE_MODES),
    author,
    json: flag('--json', 'taken as by the other commands; this one prints JSON in any case'),
  },
  help: `
The account says who signs, how the documents of a loan come, and whether issuance answers at once. Its history begins
with this command. Bring a core's partners in with their own --id: a rehearsal's file of history then serves production
unchanged. Needs the rights of carteiro_app.

Output: {"id": "0199…", "name": "Um", "signing": "internal", "documents": "agrupada", "issuance": "sincrona"}`,
  exits: { done: 'the partner exists' },
  async run({ name, id = null, signing, documents, issuance, author }, line) {
    const account = { name, signing, documents, issuance };
    const { createPartner } = await import('../../../steering/partners.ts');
    const work = (pool: Pool) =>
      pool.transaction((tx) => createPartner(tx, account, actorOf(author), id)).catch(refuseTaken);
    const made = await steer(line, work);
    line.print(JSON.stringify({ id: made.id, ...account }));
  },
});

function refuseTaken(error: unknown): never {
  if (codeOf(error) !== '23505') throw error;
  throw new UsageError('--id: there is a partner of this id already; partner show prints it', { cause: error });
}
