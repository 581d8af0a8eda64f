import { MAX_CAP } from '../../../delivery/queue/orders/cap.ts';
import { readInteger, readUuid } from '../../arguments.ts';
import { command, Refusal } from '../../command.ts';
import { json, steer, tell } from '../../operator.ts';

export const cap = command({
  summary: "set the most of a webhook's deliveries may be in flight at once, over all pollers (64 unless set)",
  takes: {
    webhook: { about: 'its id', read: readUuid },
    number: { about: `1 to ${MAX_CAP}`, read: readInteger(1, MAX_CAP) },
  },
  options: { json },
  help: `
Takes effect with the next claim. What is in flight above a lowered cap ends by itself. A webhook whose last attempt had no
answer gets one at a time until it answers, whatever its cap.

Output: a sentence; with --json {"webhook": "0199…", "cap": 3}`,
  exits: { done: 'the cap is set', refused: 'there is no such webhook' },
  async run({ webhook, number, json }, line) {
    const { setCap } = await import('../../../delivery/queue/orders/cap.ts');
    const isKnown = await steer(line, (pool) => pool.run((sql) => setCap(sql, webhook, number)));
    if (!isKnown) throw new Refusal(`there is no webhook ${webhook}: webhook list shows them`);
    tell(line, json, { webhook, cap: number }, `at most ${number} of its deliveries are in flight at once`);
  },
});
