import type { Pool } from '../../../db/pool.ts';
import { readUuid } from '../../arguments.ts';
import { command } from '../../command.ts';
import { json, steer, tell } from '../../operator.ts';
import { orMissing } from '../../refused.ts';

export const explain = command({
  summary: 'why a delivery waits, in one sentence, with what proves it',
  takes: { delivery: { about: 'its id, the value of X-Webhook-Delivery', read: readUuid } },
  options: { json },
  help: `
Looks at the delivery, its webhook and lane, and the pollers that live, and tells the first reason that holds: it is over; its
partner or webhook is inactive; it is in flight, or its poller was lost; the webhook is muted; it waits for an earlier delivery of
its loan, or for its next attempt; no poller lives; the webhook is falhando, or has its window full; or it goes next. The partner
reads the same in its own words with GET /v1/entregas/{id}/espera.

Output: the sentence, then the facts, one a line; with --json {"reason": "limite_do_webhook", "pt": "…", "en": "…",
"facts": {"status": "pendente", "inFlight": 8, "window": 8, …}}.`,
  exits: { done: 'it was explained', refused: 'there is no such delivery' },
  async run({ delivery: id, json }, line) {
    const { explainDelivery } = await import('../../../delivery/partner/explain.ts');
    const read = (pool: Pool) => pool.run((sql) => explainDelivery(sql, id, null));
    const found = orMissing(await steer(line, read, { onStrange: 'accept' }), 'delivery', id);
    const facts = Object.entries(found.facts).map(([name, value]) => {
      return `  ${name}: ${value instanceof Date ? value.toISOString() : String(value)}`;
    });
    tell(line, json, found, [found.en, ...facts].join('\n'));
  },
});
