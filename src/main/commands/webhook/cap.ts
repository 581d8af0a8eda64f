import { MAX_CAP } from '../../../contract/resources/operator.ts';
import { readInteger, readUuid } from '../../arguments.ts';
import { command } from '../../command.ts';
import { actorOf } from '../../../steering/author.ts';
import { author, json, reason, steer, tell } from '../../operator.ts';
import { orRefuse } from '../../refused.ts';

export const cap = command({
  summary: "set the most of a webhook's deliveries that may be in flight at once, over all pollers (64 unless set)",
  takes: {
    webhook: { about: 'its id', read: readUuid },
    number: { about: `1 to ${MAX_CAP}`, read: readInteger(1, MAX_CAP) },
  },
  options: { reason, author, json },
  help: `
Takes effect with the next claim. What is in flight above a lowered cap ends by itself. A webhook whose last attempt had no
answer gets one at a time until it answers, whatever its cap. A cap that changes leaves a line in the webhook's history
(limite), which webhook show and the page show.

Output: a sentence; with --json {"webhook": "0199…", "cap": 3}`,
  exits: { done: 'the cap is set', refused: 'there is no such webhook' },
  async run({ webhook, number, reason = null, author, json }, line) {
    const { capWebhook } = await import('../../../webhooks/muting.ts');
    const operator = { actor: actorOf(author), reason };
    orRefuse(
      await steer(line, (pool) => pool.transaction((tx) => capWebhook(tx, webhook, number, operator))),
      'webhook',
      webhook,
    );
    tell(line, json, { webhook, cap: number }, `at most ${number} of its deliveries are in flight at once`);
  },
});
