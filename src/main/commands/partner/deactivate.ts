import { TIMES_S } from '../../../contract/delivery.ts';
import { readUuid } from '../../arguments.ts';
import { command } from '../../command.ts';
import { actorOf } from '../../../steering/author.ts';
import { author, json, reason, steer, tell } from '../../operator.ts';
import { orRefuse } from '../../refused.ts';

export const deactivate = command({
  summary: 'off-board a partner: its tokens end, and nothing more is sent to it',
  takes: { partner: { about: 'its id', read: readUuid } },
  options: { reason, author, json },
  help: `
In one transaction the partner becomes inactive, up to 10,000 of its pending deliveries become suspensa, and a line of history
says who did it. From that commit on its tokens are refused, and nothing of it is claimed or appended. The command then
suspends what is left of a larger partner, 1,000 in a transaction, and waits for the POSTs that were under way, ${TIMES_S.lease} s at most:
when it has left, not one POST follows. A failure of those becomes suspensa, too. Interrupted, the partner stays inactive, and
the pollers suspend the rest. partner reactivate undoes it.

Output: what was suspended; with --json {"id": "0199…", "active": false, "suspended": 17, "wereInFlight": 2}, suspended being
all that is suspensa of it now.`,
  exits: {
    done: 'it is inactive, and nothing of it is in flight',
    refused: 'there is no such partner, or it is inactive',
  },
  async run({ partner: id, reason = null, author, json }, line) {
    const { deactivatePartner, untilGone } = await import('../../../steering/off-boarding.ts');
    const operator = { actor: actorOf(author), reason };
    const done = await steer(line, async (pool, { progress }) => {
      orRefuse(await pool.transaction((tx) => deactivatePartner(tx, id, operator)), 'partner', id);
      return untilGone(pool, id, (sentence) => progress.show(sentence));
    });
    const { suspended, wereInFlight } = done;
    const text = `inactive; ${suspended} deliveries are suspensa, ${wereInFlight} were in flight and have ended`;
    tell(line, json, { id, active: false, ...done }, text);
  },
});
