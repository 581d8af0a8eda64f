import { table } from '../../table.ts';
import { readUuid } from '../../arguments.ts';
import { command } from '../../command.ts';
import { before, json, steerBounded, tell, tellCut, tellMore } from '../../operator.ts';
import { orMissing } from '../../refused.ts';

export const show = command({
  summary: 'show a webhook: its state, what waits for it, and its history',
  takes: { webhook: { about: 'its id', read: readUuid } },
  options: { before, json },
  help: `
Each state counts up to 10,000 deliveries (10000+, or 10001 with --json, stand for more), and in flight is counted among the
pending ones that are due first. The history has the newest 100 lines; --before N shows the ones before line N, and a line on
standard error says with which N it goes on. Failures are counted of the newest 10,000 of each kind and, where there were more,
of the newest 10,000 attempts of the partner. Where that is not all, the text says "at least", and a line on standard error says
so too.

Output: text; with --json what webhook list shows, "deliveries": {"pending": 17, "inFlight": 2, "suspended": 0, "failed": 1,
"oldestDueS": 4.2} and "history": [{"position": "12", "changedAt": "2026-…", "change": "silenciamento", "actor": "operador:ana", "reason": "…",
"active": true}], the newest line first.`,
  exits: { done: 'it was shown', refused: 'there is no such webhook' },
  async run({ webhook: id, before = null, json }, line) {
    const { readWebhook } = await import('../../../steering/webhooks.ts');
    const { cutText, withFailures } = await import('../../../steering/failures.ts');
    const { countText } = await import('../../../steering/bounds.ts');
    const shown = await steerBounded(line, async (sql) => {
      const webhook = await readWebhook(sql, id, before);
      if (webhook === null) return null;
      const { rows, isCut } = await withFailures(sql, [webhook], webhook.partnerId);
      return { webhook: { ...webhook, failedLastHour: rows[0]?.failedLastHour ?? 0 }, isCut };
    });
    const found = orMissing(shown, 'webhook', id);
    const { partner, partnerId, url, events, active, cap, silent, mutedAt, failingSince, failedLastHour } =
      found.webhook;
    const { deliveries, history, olderThan } = found.webhook;
    const { pending, inFlight, suspended, failed, oldestDueS } = deliveries;
    const muted = mutedAt === null ? '' : `muted since ${mutedAt.toISOString()}`;
    const state = [...(active ? [] : ['inactive']), ...(muted === '' ? [] : [muted])].join(', ') || 'active';
    const falhando =
      failingSince === null ? '' : `, falhando since ${failingSince.toISOString()}: one at a time probes it`;
    const lines = [
      `${url}, ${state}${falhando}`,
      `partner ${partner} (${partnerId}), cap ${cap}${silent ? ', one at a time until it answers' : ''}`,
      `events ${events.join(' ')}`,
      `${countText(pending)} pending, ${inFlight} of them in flight${oldestDueS === null ? '' : `, the oldest due for ${Math.round(oldestDueS)} s`}`,
      `${countText(suspended)} suspensa, ${countText(failed)} erro, ${found.isCut ? 'at least ' : ''}${failedLastHour} attempts failed in the last hour`,
      table(history.map(({ changedAt, change, actor, reason }) => ({ changedAt, change, actor, reason }))),
    ];
    tell(line, json, found.webhook, lines.join('\n'));
    tellCut(found.isCut ? cutText(partnerId) : null);
    tellMore(olderThan, (line) => `webhook show ${id} --before ${line}`);
  },
});
