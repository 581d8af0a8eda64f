import type { Pool } from '../../../db/pool.ts';
import { readUuid } from '../../arguments.ts';
import { command } from '../../command.ts';
import { actorOf } from '../../../steering/author.ts';
import { author, json, reason, steer, tell } from '../../operator.ts';
import { orRefuse } from '../../refused.ts';

export const reactivate = command({
  summary: 'let a partner back in: its tokens are accepted, and it is sent what is new',
  takes: { partner: { about: 'its id', read: readUuid } },
  options: { reason, author, json },
  help: `
What the deactivation has left pending is suspended first. What was suspended stays so: the partner resumes it, webhook by webhook, with PATCH /v1/webhooks/{id}
{"ativo": true, "retomar": true}, or the operator sends one with delivery resend. What happened while it was inactive made no
deliveries. Needs the rights of carteiro_owner.

Output: what is suspended; with --json {"id": "0199…", "active": true, "suspended": 17}`,
  exits: { done: 'it is active', refused: 'there is no such partner, or it is active' },
  async run({ partner: id, reason = null, author, json }, line) {
    const { reactivatePartner } = await import('../../../steering/off-boarding.ts');
    const operator = { actor: actorOf(author), reason };
    const work = (pool: Pool) => reactivatePartner(pool, id, operator);
    const { suspended } = orRefuse(await steer(line, work, { needs: 'owner' }), 'partner', id);
    tell(line, json, { id, active: true, suspended }, `active; ${suspended} deliveries stay suspensa until resumed`);
  },
});
