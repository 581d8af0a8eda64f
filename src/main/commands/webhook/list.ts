import { table } from '../../table.ts';
import { readUuid } from '../../arguments.ts';
import { choice, command, option, UsageError } from '../../command.ts';
import { json, paging, rowsOr, steerBounded, tell, tellCut, tellMore } from '../../operator.ts';
import { orMissing } from '../../refused.ts';
import type { WebhookLine } from '../../../steering/webhooks.ts';

export const list = command({
  summary: 'list webhooks, the oldest first; with --state failing the worst first',
  options: {
    partner: option('--partner <id>', 'only those of this partner', readUuid),
    state: choice('--state <state>', 'only those in this state', ['muted', 'inactive', 'failing', 'falhando'] as const),
    ...paging,
    json,
  },
  help: `
failing: an attempt failed in the last hour. falhando: it has failed for hours, by the policy. inactive: the webhook or its
partner was deactivated. Query strings of URLs are masked, because they carry tokens. The list comes in pages: when there is
more, a line on standard error says with which --after it goes on. --state failing has one page, of the worst.
Failures are counted of the newest 10,000 of each kind. Where there were more, a line on standard error says so, and a webhook
may have failed more often than it says, or be missing among the failing ones. --partner then looks at the newest 10,000
attempts of that partner, too.

Output: a table; with --json [{"id": "0199…", "partnerId": "0199…", "partner": "Um", "url": "https://…", "events": […],
"active": true, "cap": 64, "silent": false, "mutedAt": null, "failingSince": null, "failedLastHour": 0}]. A silent one left
its last attempt without an answer, and gets one delivery at a time until it answers. One with failingSince is falhando by the
policy ENDPOINT_FAILING_AFTER, and gets one delivery at a time until it answers well.`,
  exits: { done: 'they were listed, or there is none', refused: 'there is no such partner' },
  async run({ partner, state, after, limit, json }, line) {
    const { isPartner } = await import('../../../steering/accounts.ts');
    const { cutText, listFailing, withFailures } = await import('../../../steering/failures.ts');
    const { listWebhooks } = await import('../../../steering/webhooks.ts');
    if (state === 'failing' && after !== undefined)
      throw new UsageError('--state failing has one page: leave out --after');
    const page = await steerBounded(line, async (sql) => {
      if (partner !== undefined) orMissing((await isPartner(sql, partner)) || null, 'partner', partner);
      if (state === 'failing') return { ...(await listFailing(sql, partner, limit)), next: null };
      const { rows, next } = await listWebhooks(sql, { partnerId: partner, state }, { after: after ?? null, limit });
      return { ...(await withFailures(sql, rows, partner)), next };
    });
    const text = rowsOr(
      page.rows,
      (rows) =>
        table(
          rows.map(({ id, partner, url, active, cap, silent, mutedAt, failingSince, failedLastHour }) => ({
            id,
            state: stateOf({ active, silent, mutedAt, failingSince }),
            cap,
            failed_1h: failedLastHour,
            partner,
            url,
          })),
        ),
      page.next === null ? 'no webhook fits' : 'no webhook of this page fits',
    );
    tell(line, json, page.rows, text);
    const filter = `${partner === undefined ? '' : ` --partner ${partner}`}${state === undefined ? '' : ` --state ${state}`}`;
    tellCut(page.isCut ? cutText(partner) : null);
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
