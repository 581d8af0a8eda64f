import { table } from '../../table.ts';
import { readInteger, readUuid } from '../../arguments.ts';
import { command, option } from '../../command.ts';
import { json, steer, tell, tellMore } from '../../operator.ts';
import { orMissing } from '../../refused.ts';

export const show = command({
  summary: 'show a delivery: its state, its attempts, and who had it sent again or cancelled',
  takes: { delivery: { about: 'its id, the value of X-Webhook-Delivery', read: readUuid } },
  options: { before: option('--before <number>', 'the attempts before that one', readInteger(1, 1e9)), json },
  help: `
Shows the newest 50 attempts and the newest 50 orders; --before N shows the attempts before attempt N, and a line on standard
error says with which N it goes on. CPFs in answers and query strings of URLs are masked.

Output: text; with --json {"partnerId": "0199…", "delivery": {as GET /v1/entregas/{id} answers}, "olderThan": null, "url": "https://…",
"active": true, "mutedAt": null, "orders": [{"orderedAt": "2026-…", "kind": "cancelamento", "actor": "operador:ana",
"reason": "…"}]}`,
  exits: { done: 'it was shown', refused: 'there is no such delivery' },
  async run({ delivery: id, before = null, json }, line) {
    const { showDelivery } = await import('../../../steering/deliveries.ts');
    const found = orMissing(await steer(line, (pool) => showDelivery(pool, id, before)), 'delivery', id);
    const { delivery, olderThan, url, active, mutedAt, orders, partnerId } = found;
    const isHeld = delivery.status === 'pendente' && !delivery.em_andamento && delivery.proxima_tentativa_em === null;
    const waits = isHeld ? ', waits for another delivery of its loan' : '';
    const next = delivery.proxima_tentativa_em === null ? waits : `, next attempt at ${delivery.proxima_tentativa_em}`;
    const lines = [
      `${delivery.evento}, ${delivery.status}${delivery.em_andamento ? ', in flight' : ''}${next}`,
      `event ${delivery.evento_id}, partner ${partnerId}`,
      `webhook ${delivery.webhook_id} ${url}${active ? '' : ', inactive'}${mutedAt === null ? '' : ', muted'}`,
      delivery.tentativas.length === 0
        ? 'no attempt yet'
        : table(
            delivery.tentativas.map(({ numero, inicio, duracao_ms, resultado, status_http, erro, atrasada }) => {
              return { numero, inicio, duracao_ms, resultado, status_http, erro, late: atrasada ? 'late' : '' };
            }),
          ),
      ...(orders.length === 0
        ? []
        : [table(orders.map(({ orderedAt, kind, actor, reason }) => ({ orderedAt, kind, actor, reason })))]),
    ];
    tell(line, json, found, lines.join('\n'));
    tellMore(olderThan === null ? null : String(olderThan), (number) => `delivery show ${id} --before ${number}`);
  },
});
