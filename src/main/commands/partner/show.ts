import { table } from '../../table.ts';
import { readUuid } from '../../arguments.ts';
import { command } from '../../command.ts';
import { before, json, steerBounded, tell, tellMore } from '../../operator.ts';
import { orMissing } from '../../refused.ts';

export const show = command({
  summary: "show a partner: its account, its webhooks, and its account's history",
  takes: { partner: { about: 'its id', read: readUuid } },
  options: { before, json },
  help: `
Output: text; with --json {"id": "0199…", "name": "Um", "active": true, …, "webhooks": [as webhook list, without failedLastHour],
"history": [{"changedAt": "2026-…", "change": "desativacao", "actor": "operador:ana", "reason": "…", "name": "Um", …}]}, the
newest line first. Of the webhooks 100 are shown; moreAfter says that there are more (webhook list --partner ID --after …). The history
has the newest 100 lines; --before N shows the ones before line N, and a line on standard error says with which N it goes on.`,
  exits: { done: 'it was shown', refused: 'there is no such partner' },
  async run({ partner: id, before = null, json }, line) {
    const { readPartner } = await import('../../../steering/accounts.ts');
    const { listWebhooks } = await import('../../../steering/webhooks.ts');
    const shown = await steerBounded(line, async (sql) => {
      const partner = await readPartner(sql, id, before);
      const { rows: webhooks, next: moreAfter } = await listWebhooks(sql, { partnerId: id });
      return partner && { ...partner, webhooks, moreAfter };
    });
    const found = orMissing(shown, 'partner', id);
    const { webhooks, moreAfter, history, name, active, signing, documents, issuance } = found;
    const lines = [
      `${name} (${id}), ${active ? 'active' : 'inactive'}`,
      `signing ${signing}, documents ${documents}, issuance ${issuance}`,
      `${webhooks.length}${moreAfter === null ? '' : '+'} webhooks: webhook list --partner ${id}`,
      ...(history.length === 0
        ? []
        : [table(history.map(({ changedAt, change, actor, reason }) => ({ changedAt, change, actor, reason })))]),
    ];
    tell(line, json, found, lines.join('\n'));
    tellMore(found.olderThan, (line) => `partner show ${id} --before ${line}`);
  },
});
