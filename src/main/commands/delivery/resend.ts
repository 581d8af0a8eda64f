import { readUuid } from '../../arguments.ts';
import { command, Refusal } from '../../command.ts';
import { actorOf } from '../../../steering/author.ts';
import { author, json, reason, steer, tell } from '../../operator.ts';
import { orMissing } from '../../refused.ts';

export const resend = command({
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
    const { resendOne } = await import('../../../delivery/partner/resend.ts');
    const { readAround } = await import('../../../steering/deliveries.ts');
    const { mutedAt, inOrder } = await steer(line, (pool) =>
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
    tell(line, json, { delivery: id, status: 'pendente', muted }, text);
  },
});
