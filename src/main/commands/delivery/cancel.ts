import { TIMES_S } from '../../../contract/delivery.ts';
import { readUuid } from '../../arguments.ts';
import { command } from '../../command.ts';
import { actorOf } from '../../../steering/author.ts';
import { author, json, requiredReason, steer, tell } from '../../operator.ts';
import { orRefuse } from '../../refused.ts';

export const cancel = command({
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
    const { cancelDelivery } = await import('../../../delivery/queue/orders/cancel.ts');
    const order = { actor: actorOf(author), requestId: null, reason };
    orRefuse(await steer(line, (pool) => pool.transaction((tx) => cancelDelivery(tx, id, order))), 'delivery', id);
    tell(line, json, { delivery: id, status: 'erro' }, 'erro; it will not be sent');
  },
});
