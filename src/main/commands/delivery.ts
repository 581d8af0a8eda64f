import { TIMES_S } from '../../contract/delivery.ts';
import { resendOne } from '../../delivery/partner/resend.ts';
import { cancelDelivery } from '../../delivery/queue/orders/cancel.ts';
import { actorOf } from '../../admin/author.ts';
import { readAround, showDelivery } from '../../admin/deliveries.ts';
import { readInteger, readUuid } from '../arguments.ts';
import { command, option, Refusal, type Group } from '../command.ts';
import { author, json, reason, requiredReason, operate, printResult, printMore } from '../operator.ts';
import { orMissing, orRefuse } from '../refused.ts';
import { table } from '../table.ts';

const show = command({
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
    const found = orMissing(await operate(line, (pool) => showDelivery(pool, id, before)), 'delivery', id);
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
      ...(orders.length === 0 ? [] : [table(orders)]),
    ];
    printResult(line, json, found, lines.join('\n'));
    printMore(olderThan === null ? null : String(olderThan), (number) => `delivery show ${id} --before ${number}`);
  },
});

const resend = command({
  summary: 'send a delivery again: the same id and bytes, on a fresh schedule',
  takes: { delivery: { about: 'its id', read: readUuid } },
  options: { reason, author, json },
  help: `
Whatever became of it before, it is pendente and due now, with six attempts ahead. Attempt numbers go on, so no row of
evidence is overwritten. One that is under way is taken from its poller, and its attempt logged as desconhecido: the partner
may get it twice, under the same X-Webhook-Delivery.

Output: a sentence; with --json {"delivery": "0199…", "status": "pendente", "muted": false}`,
  exits: {
    done: 'it is due now',
    refused: 'there is no such delivery, its webhook or partner is inactive, or it was erased',
  },
  async run({ delivery: id, reason = null, author, json }, line) {
    const { mutedAt, inOrder } = await operate(line, (pool) =>
      pool.transaction(async (tx) => {
        const around = orMissing(await readAround(tx, id), 'delivery', id);
        const order = { actor: actorOf(author), requestId: null, reason };
        const sent = around.active ? await resendOne(tx, around.partnerId, id, order) : null;
        if (sent !== null && 'refused' in sent && sent.refused.kind === 'erased')
          throw new Refusal(`the data of delivery ${id} were erased: there is nothing to be sent`);
        if (sent === null || 'refused' in sent)
          throw new Refusal(`the webhook of delivery ${id} is inactive, or its partner is: re-activate it first`);
        return around;
      }),
    );
    const muted = mutedAt !== null;
    const now = inOrder ? 'pendente and due now, unless one before it of its loan is pendente' : 'pendente and due now';
    const text = muted ? 'pendente; its webhook is muted, so it waits for webhook unmute' : now;
    printResult(line, json, { delivery: id, status: 'pendente', muted }, text);
  },
});

const cancel = command({
  summary: 'end a pending delivery unsent, for good; the reason is kept',
  takes: { delivery: { about: 'its id', read: readUuid } },
  options: { reason: requiredReason, author, json },
  help: `
The delivery becomes erro, as one whose attempts are spent, so that a partner that resumes its webhook does not bring it
back. The order, with its author and reason, stands beside resends in the evidence, append-only. Attempts that were made
stay. One that is in flight is left alone: wait for its end, ${TIMES_S.response} s at most. The partner may still ask for it by name.

Output: a sentence; with --json {"delivery": "0199…", "status": "erro"}`,
  exits: { done: 'it will not be sent', refused: 'there is no such delivery, it is over already, or it is in flight' },
  async run({ delivery: id, reason, author, json }, line) {
    const order = { actor: actorOf(author), requestId: null, reason };
    orRefuse(await operate(line, (pool) => pool.transaction((tx) => cancelDelivery(tx, id, order))), 'delivery', id);
    printResult(line, json, { delivery: id, status: 'erro' }, 'erro; it will not be sent');
  },
});

export const delivery: Group = {
  about: 'one delivery: read, send again, end',
  commands: { show, resend, cancel },
};
