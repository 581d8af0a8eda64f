import { table } from '../../../demo/table.ts';
import { readUuid } from '../../arguments.ts';
import { command, Refusal } from '../../command.ts';
import { json, steer, tell } from '../../operator.ts';

export const show = command({
  summary: 'show a webhook: its state, what waits for it, and its history',
  takes: { webhook: { about: 'its id', read: readUuid } },
  options: { json },
  help: `
Counts every delivery of the webhook that has not arrived, which takes a second for a million.

Output: text; with --json what webhook list shows, "deliveries": {"pending": 17, "inFlight": 2, "suspended": 0, "failed": 1,
"oldestDueS": 4.2} and "history": [{"changedAt": "2026-…", "change": "silenciamento", "actor": "operador:ana", "reason": "…",
"active": true}], the newest line first.`,
  exits: { done: 'it was shown', refused: 'there is no such webhook' },
  async run({ webhook: id, json }, line) {
    const { readWebhook } = await import('../../../steering/webhooks.ts');
    const found = await steer(line, (pool) => pool.run((sql) => readWebhook(sql, id)));
    if (found === null) throw new Refusal(`there is no webhook ${id}: webhook list shows them`);
    const { partner, partnerId, url, events, active, cap, silent, mutedAt, failingSince, failedLastHour } = found;
    const { deliveries, history } = found;
    const { pending, inFlight, suspended, failed, oldestDueS } = deliveries;
    const state = mutedAt === null ? (active ? 'active' : 'inactive') : `muted since ${mutedAt.toISOString()}`;
    const falhando =
      failingSince === null ? '' : `, falhando since ${failingSince.toISOString()}: one at a time probes it`;
    const lines = [
      `${url}, ${state}${falhando}`,
      `partner ${partner} (${partnerId}), cap ${cap}${silent ? ', one at a time until it answers' : ''}`,
      `events ${events.join(' ')}`,
      `${pending} pending, ${inFlight} of them in flight${oldestDueS === null ? '' : `, the oldest due for ${Math.round(oldestDueS)} s`}`,
      `${suspended} suspensa, ${failed} erro, ${failedLastHour} attempts failed in the last hour`,
      table(history.map(({ changedAt, change, actor, reason }) => ({ changedAt, change, actor, reason }))),
    ];
    tell(line, json, found, lines.join('\n'));
  },
});
