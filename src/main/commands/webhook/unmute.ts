import { readUuid } from '../../arguments.ts';
import { command } from '../../command.ts';
import { actorOf } from '../../../steering/author.ts';
import { author, json, reason, steer, tell } from '../../operator.ts';
import { orRefuse } from '../../refused.ts';

export const unmute = command({
  summary: 'send to a muted webhook again: what waited is due at once, within its cap',
  takes: { webhook: { about: 'its id', read: readUuid } },
  options: { reason, author, json },
  help: `
Wakes the webhook's lane: the next claim finds all that waited, the oldest first.

Output: what is pending; with --json {"webhook": "0199…", "muted": false, "pending": 17}, where 10001
stands for more`,
  exits: { done: 'it is sent to again', refused: 'there is no such webhook, or it is not muted' },
  async run({ webhook, reason = null, author, json }, line) {
    const { unmuteWebhook } = await import('../../../webhooks/muting.ts');
    const { countText, readBounded } = await import('../../../steering/bounds.ts');
    const { countDeliveries } = await import('../../../steering/webhooks.ts');
    const pending = await steer(line, async (pool) => {
      const operator = { actor: actorOf(author), reason };
      orRefuse(await pool.transaction((tx) => unmuteWebhook(tx, webhook, operator)), 'webhook', webhook);
      return (await readBounded(pool, (sql) => countDeliveries(sql, webhook))).pending;
    });
    tell(line, json, { webhook, muted: false, pending }, `unmuted; ${countText(pending)} deliveries are pending`);
  },
});
