import { table } from '../../../demo/table.ts';
import { command, flag } from '../../command.ts';
import { json, rowsOr, steer, tell } from '../../operator.ts';

export const list = command({
  summary: 'list partners, the oldest first',
  options: { inactive: flag('--inactive', 'only those that were deactivated'), json },
  help: `
Output: a table; with --json [{"id": "0199…", "name": "Um", "active": true, "signing": "internal", "documents": "agrupada",
"issuance": "sincrona", "createdAt": "2026-…", "webhooks": 2}], webhooks being the active ones.`,
  exits: { done: 'they were listed, or there is none' },
  async run({ inactive, json }, line) {
    const { listPartners } = await import('../../../steering/accounts.ts');
    const partners = await steer(line, (pool) => pool.run((sql) => listPartners(sql, inactive)));
    const text = rowsOr(
      partners,
      (rows) =>
        table(
          rows.map(({ id, name, active, webhooks, signing, documents, issuance }) => ({
            id,
            active: active ? 'yes' : 'no',
            webhooks,
            signing,
            documents,
            issuance,
            name,
          })),
        ),
      inactive ? 'no partner is inactive' : 'there is no partner: partner create makes one',
    );
    tell(line, json, partners, text);
  },
});
