import { table } from '../../table.ts';
import { command, flag } from '../../command.ts';
import { json, paging, rowsOr, steerBounded, tell, tellMore } from '../../operator.ts';

export const list = command({
  summary: 'list partners, the oldest first',
  options: { inactive: flag('--inactive', 'only those that were deactivated'), ...paging, json },
  help: `
Output: a table; with --json [{"id": "0199…", "name": "Um", "active": true, "signing": "internal", "documents": "agrupada",
"issuance": "sincrona", "createdAt": "2026-…", "webhooks": 2}], webhooks being the active ones, 1001 standing for more than 1,000. The list comes in pages: when there is more,
a line on standard error says with which --after it goes on.`,
  exits: { done: 'they were listed, or there is none' },
  async run({ inactive, after, limit, json }, line) {
    const { listPartners, WEBHOOKS_COUNTED } = await import('../../../steering/accounts.ts');
    const page = await steerBounded(line, (sql) => listPartners(sql, inactive, { after: after ?? null, limit }));
    const text = rowsOr(
      page.rows,
      (rows) =>
        table(
          rows.map(({ id, name, active, webhooks, signing, documents, issuance }) => ({
            id,
            active: active ? 'yes' : 'no',
            webhooks: webhooks > WEBHOOKS_COUNTED ? `${WEBHOOKS_COUNTED}+` : webhooks,
            signing,
            documents,
            issuance,
            name,
          })),
        ),
      inactive ? 'no partner is inactive' : 'there is no partner: partner create makes one',
    );
    tell(line, json, page.rows, text);
    tellMore(page.next, (id) => `partner list${inactive ? ' --inactive' : ''} --after ${id}`);
  },
});
