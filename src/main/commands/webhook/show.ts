import { table } from '../../table.ts';
import { readUuid } from '../../arguments.ts';
import { command } from '../../command.ts';
import { before, json, steerBounded, tell, tellMore } from '../../operator.ts';
import { orMissing } from '../../refused.ts';

export const show = command({
  summary: 'show a webhook: its state, what waits for it, and its history',
  takes: { webhook: { about: 'its id', read: readUuid } },
  options: { before, json },
  help: `
Each state counts up to 10,000 deliveries (10000+, or 10001 with --json, stand for more), and in flight is counted among the
pending ones that are due first. The history has the newest 100 lines; --before N shows the ones before line N, and a line on
standard error says with which N it goes on.

Output: text; with --json what webhook list shows, "deliveries": {"pending": 17, "inFlight": 2, "suspended": 0, "failed": 1,
"oldestDueS": 4.2} and "history": [{"position": "12", "changedAt": "2026-…", "change": "silenciamento", "actor": "operador:ana", "reason": "…",
"active": true}], the newest line first.`,
  exits: { done: 'it was shown', refused: 'there is no such webhook' },
  async run({ webhook: id, before = null, json }, line) {
    const { readWebhook } = await import('../../../steering/webhooks.ts');
    const { countText } = await import('../../../steering/bounds.ts');
    const shown = await steerBounded(line, (sql) => readWebhook(sql, id, before));
    const found = orMissing(shown, 'webhook', id);
    const { partner, partnerId, url, events, active, cap, silent, mutedAt, failingSince } = found;
    const { deliveries, history, olderThan } = found;
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
      `${countText(suspended)} suspensa, ${countText(failed)} erro`,
      table(history.map(({ changedAt, change, actor, reason }) => ({ changedAt, change, actor, reason }))),
    ];
    tell(line, json, found, lines.join('\n'));
    tellMore(olderThan, (line) => `webhook show ${id} --before ${line}`);
  },
});
