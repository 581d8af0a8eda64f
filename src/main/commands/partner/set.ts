import { DOCUMENT_MODES, ISSUANCE_MODES, SIGNING_MODES } from '../../../contract/statuses.ts';
import { readUuid } from '../../arguments.ts';
import { choice, command, option, UsageError } from '../../command.ts';
import { actorOf } from '../../../steering/author.ts';
import { author, json, readHistoryLine, reason, steer, tell } from '../../operator.ts';
import { orMissing } from '../../refused.ts';

export const set = command({
  summary: "change a partner's name or account",
  takes: { partner: { about: 'its id', read: readUuid } },
  options: {
    name: option('--name <name>', 'the name, for people; no CPF', readHistoryLine),
    signing: choice('--signing <mode>', 'who signs', SIGNING_MODES),
    documents: choice('--documents <mode>', 'how documents come', DOCUMENT_MODES),
    issuance: choice('--issuance <mode>', 'how loans are issued', ISSUANCE_MODES),
    reason,
    author,
    json,
  },
  help: `
What is left out stays. Loans that exist keep what they were issued under. Each change leaves a line of history with its
author. Needs the rights of carteiro_app.

Output: what the account is now; with --json {"id": "0199…", "name": "Um", "active": true, "signing": "externa", …}`,
  exits: { done: 'the account is as asked for', refused: 'there is no such partner; nothing was changed' },
  async run({ partner: id, reason = null, author, json, ...change }, line) {
    if (Object.values(change).every((value) => value === undefined))
      throw new UsageError('give at least one of --name, --signing, --documents and --issuance');
    const { changePartner, lockPartner } = await import('../../../steering/partners.ts');
    const changed = await steer(line, (pool) =>
      pool.transaction(async (tx) => {
        orMissing(await lockPartner(tx, id), 'partner', id);
        return changePartner(tx, id, change, { actor: actorOf(author), reason });
      }),
    );
    const { name, signing, documents, issuance } = changed;
    tell(line, json, changed, `${name}: signing ${signing}, documents ${documents}, issuance ${issuance}`);
  },
});
