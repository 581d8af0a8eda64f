import { table } from '../../table.ts';
import { readUuid } from '../../arguments.ts';
import { choice, command, option } from '../../command.ts';
import { json, paging, rowsOr, steerBounded, tell, tellMore } from '../../operator.ts';
import { orMissing } from '../../refused.ts';
import type { WebhookLine } from '../../../steering/webhooks.ts';

export const list = command({
  summary: 'list webhooks, the oldest first',
  options: {
    partner: option('--partner <id>', 'only those of this partner', readUuid),
    state: choice('--state <state>', 'only those in this state', ['muted', 'inactive', 'falhando'] as const),
    ...paging,
    json,
  },
  help: `
falhando: it has failed for hours, by the policy; queue worst tells which fail now. inactive: the webhook or its partner was
deactivated. Query strings of URLs are masked, because they carry tokens. The list comes in pages: when there is more, a line on
standard error says with which --after it goes on.

Output: a table; with --json [{"id": "0199…", "partnerId": "0199…", "partner": "Um", "url": "https://…", "events": […],
"active": true, "cap": 64, "silent": false, "mutedAt": null, "failingSince": null}]. A silent one left its last attempt
without an answer, and gets one delivery at a time until it answers. One with failingSince is falhando by the
policy ENDPOINT_FAILING_AFTER, and gets one delivery at a time until it answers well.`,
  exits: { done: 'they were listed, or there is none', refused: 'there is no such partner' },
  async run({ partner, state, after, limit, json }, line) {
    const { isPartner } = await import('../../../steering/accounts.ts');
    const { listWebhooks } = await import('../../../steering/webhooks.ts');
    const page = await steerBounded(line, async (sql) => {
      if (partner !== undefined) orMissing((await isPartner(sql, partner)) || null, 'partner', partner);
      return listWebhooks(sql, { partnerId: partner, state }, { after: after ?? null, limit });
    });
    const text = rowsOr(
      page.rows,
      (rows) =>
        table(
          rows.map(({ id, partner, url, active, cap, silent, mutedAt, failingSince }) => ({
            id,
            state: stateOf({ active, silent, mutedAt, failingSince }),
            cap,
            partner,
            url,
          })),
        ),
      page.next === null ? 'no webhook fits' : 'no webhook of this page fits',
    );
    tell(line, json, page.rows, text);
    const filter = `${partner === undefined ? '' : ` --partner ${partner}`}${state === undefined ? '' : ` --state ${state}`}`;
    tellMore(page.next, (id) => `webhook list${filter} --after ${id}`);
  },
});

function stateOf({
  active,
  silent,
  mutedAt,
  failingSince,
}: Pick<WebhookLine, 'active' | 'silent' | 'mutedAt' | 'failingSince'>) {
  // Both, because unmuting an inactive one sends nothing.
  if (mutedAt !== null) return active ? 'muted' : 'inactive, muted';
  if (!active) return 'inactive';
  if (failingSince !== null) return 'falhando';
  return silent ? 'silent' : 'active';
}
