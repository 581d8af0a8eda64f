/** The deliveries' routes: the search, one delivery, its proof, and the order to send it again. */
import type { Hono } from 'hono';
import { maskProof } from '../../audit/proof/mask-proof.ts';
import { readProof } from '../../audit/proof/proof.ts';
import type { DeliveryWithAttempts } from '../../contract/resources/delivery-resource.ts';
import { requirePartner } from '../../http/auth/auth.ts';
import { notFound } from '../../http/api-error.ts';
import { Refused } from '../api-client.ts';
import type { PainelDeps, PainelEnv } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { pathId } from '../path-id.ts';
import { showDelivery } from './one.ts';
import { showDeliveries } from './list.ts';

const READ = { reader: 'partner', scope: 'webhooks:read' } as const;
const WRITE = { reader: 'partner', scope: 'webhooks:write' } as const;

export function addDeliveryPages(app: Hono<PainelEnv>, deps: PainelDeps, guard: Guard): void {
  app.get(
    '/painel/entregas',
    guard.show(READ, (visit) => showDeliveries(visit, deps)),
  );
  app.get(
    '/painel/entregas/:id',
    guard.show(READ, (visit) => showDelivery(visit, deps, pathId(visit.c), {})),
  );
  app.post(
    '/painel/entregas/:id/reenvio',
    guard.act(WRITE, async (visit) => {
      const id = pathId(visit.c);
      const answer = await visit.api.send<DeliveryWithAttempts>('POST', `/v1/entregas/${id}/reenvio`);
      if (answer.ok) return visit.c.redirect(`/painel/entregas/${id}?feito=reenvio`, 303);
      if (answer.status !== 409) throw new Refused(answer);
      return showDelivery(visit, deps, id, { refusal: answer });
    }),
  );
  app.get(
    '/painel/entregas/:id/prova',
    guard.show(READ, async ({ c, session, api }) => {
      const id = pathId(c);
      // First whether the partner has it: a proof is read by its id alone.
      await api.read<DeliveryWithAttempts>(`/v1/entregas/${id}`);
      const proof = await readProof(deps.pool, id);
      if (proof === null || proof.entrega.parceiro_id !== requirePartner(session.identity)) throw notFound();
      c.header('Content-Disposition', `attachment; filename="prova-${id}.json"`);
      return c.json(maskProof(proof));
    }),
  );
}
