import { table } from '../../../demo/table.ts';
import { readUuid } from '../../arguments.ts';
import { choice, command, option } from '../../command.ts';
import { json, rowsOr, steer, tell } from '../../operator.ts';
import type { WebhookLine } from '../../../steering/webhooks.ts';

export const list = command({
  summary: 'list webhooks, those that fail most first',
  options: {
    partner: option('--partner <id>', 'only those of this partner', readUuid),
    state: choice('--state <state>', 'only those in this state', ['muted', 'inactive', 'failing', 'falhando'] as const),
    json,
  },
  help: `
failing: an attempt failed in the last hour. falhando: it has failed for hours, by the policy. inactive: the webhook or its partner was deactivated. Query strings of URLs are
masked, because they carry tokens.

Output: a table; with --json [{"id": "0199…", "partnerId": "0199…", "partner": "Um", "url": "https://…", "events": […],
"active": true, "cap": 8, "silent": false, "mutedAt": null, "failingSince": null, "failedLastHour": 0}]. A silent one left
its last attempt without an answer, and gets one delivery at a time until it answers. One with failingSince is falhando by the
policy ENDPOINT_FAILING_AFTER, and gets one delivery at a time until it answers well.`,
  exits: { done: 'they were listed, or there is none' },
  async run({ partner, state, json }, line) {
    const { listWebhooks } = await import('../../../steering/webhooks.ts');
    const webhooks = await steer(line, (pool) => pool.run((sql) => listWebhooks(sql, { partnerId: partner, state })));
    const text = rowsOr(
      webhooks,
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
      'no webhook fits',
    );
    tell(line, json, webhooks, text);
  },
});

function stateOf({
  active,
  silent,
  mutedAt,
  failingSince,
}: Pick<WebhookLine, 'active' | 'silent' | 'mutedAt' | 'failingSince'>) {
  if (mutedAt !== null) return 'muted';
  if (!active) return 'inactive';
  if (failingSince !== null) return 'falhando';
  return silent ? 'silent' : 'active';
}
