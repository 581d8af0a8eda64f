import { TIMES_S } from '../../../contract/delivery.ts';
import { readUuid } from '../../arguments.ts';
import { command } from '../../command.ts';
import { actorOf } from '../../../steering/author.ts';
import { author, json, reason, steer, tell } from '../../operator.ts';
import { orRefuse } from '../../refused.ts';

export const mute = command({
  summary: 'stop sending to a webhook; what is for it waits, and nothing is lost',
  takes: { webhook: { about: 'its id', read: readUuid } },
  options: { reason, author, json },
  help: `
From the commit on nothing of the webhook is claimed, and what is appended for it waits as pendente, as the balance counts
it. No schedule runs meanwhile: no slot is spent. The command then waits for the POSTs that were under way, ${TIMES_S.lease} s at most:
when it has left, not one POST follows until webhook unmute. A test that the partner asks for waits, too.

Output: what waits; with --json {"webhook": "0199…", "muted": true, "pending": 17, "wereInFlight": 2}, where
10001 pending stands for more`,
  exits: {
    done: 'it is muted, and nothing of it is in flight',
    refused: 'there is no such webhook, or it is muted or inactive',
  },
  async run({ webhook, reason = null, author, json }, line) {
    const { muteWebhook } = await import('../../../webhooks/muting.ts');
    const { untilLanded } = await import('../../../steering/landing.ts');
    const { countText, readBounded } = await import('../../../steering/bounds.ts');
    const { countDeliveries } = await import('../../../steering/webhooks.ts');
    const done = await steer(line, async (pool, { progress }) => {
      const operator = { actor: actorOf(author), reason };
      orRefuse(await pool.transaction((tx) => muteWebhook(tx, webhook, operator)), 'webhook', webhook);
      const wereInFlight = await untilLanded(pool, [webhook], (sentence) => progress.show(sentence));
      const { pending } = await readBounded(pool, (sql) => countDeliveries(sql, webhook));
      return { pending, wereInFlight };
    });
    const text = `muted; ${countText(done.pending)} deliveries wait, ${done.wereInFlight} were in flight and have ended`;
    tell(line, json, { webhook, muted: true, ...done }, text);
  },
});
