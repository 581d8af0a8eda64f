import { table } from '../../../demo/table.ts';
import { readUuid } from '../../arguments.ts';
import { command, Refusal } from '../../command.ts';
import { json, steer, tell } from '../../operator.ts';

export const show = command({
  summary: "show a partner: its account, its webhooks, and its account's history",
  takes: { partner: { about: 'its id', read: readUuid } },
  options: { json },
  help: `
Output: text; with --json {"id": "0199…", "name": "Um", "active": true, …, "webhooks": [as webhook list],
"history": [{"changedAt": "2026-…", "change": "desativacao", "actor": "operador:ana", "reason": "…", "name": "Um", …}]}, the
newest line first.`,
  exits: { done: 'it was shown', refused: 'there is no such partner' },
  async run({ partner: id, json }, line) {
    const { readPartner } = await import('../../../steering/accounts.ts');
    const found = await steer(line, (pool) => pool.run((sql) => readPartner(sql, id)));
    if (found === null) throw new Refusal(`there is no partner ${id}: partner list shows them`);
    const { webhooks, history, name, active, signing, documents, issuance } = found;
    const lines = [
      `${name} (${id}), ${active ? 'active' : 'inactive'}`,
      `signing ${signing}, documents ${documents}, issuance ${issuance}`,
      `${webhooks.length} webhooks: webhook list --partner ${id}`,
      ...(history.length === 0
        ? []
        : [table(history.map(({ changedAt, change, actor, reason }) => ({ changedAt, change, actor, reason })))]),
    ];
    tell(line, json, found, lines.join('\n'));
  },
});
