/** The deliveries' routes: the search, one delivery, its proof, and the order to send it again. */
import type { Hono } from 'hono';
import { Refused } from '../api-client.ts';
import type { PainelEnv } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import type { Streams } from '../live.ts';
import { pathId } from '../path-id.ts';
import { showDelivery } from './one.ts';
import { exportDeliveries, showDeliveries, streamDeliveries } from './list.ts';

const READ = { reader: 'partner', scope: 'webhooks:read' } as const;
const WRITE = { reader: 'partner', scope: 'webhooks:write' } as const;

export function addDeliveryPages(app: Hono<PainelEnv>, guard: Guard, streams: Streams): void {
  app.get('/painel/entregas', guard.show(READ, showDeliveries));
  app.get('/painel/entregas/exportar', guard.show(READ, exportDeliveries));
  app.get(
    '/painel/entregas/ao-vivo',
    guard.show(READ, (visit) => streamDeliveries(streams, visit)),
  );
  app.get(
    '/painel/entregas/:id',
    guard.show(READ, (visit) => showDelivery(visit, pathId(visit.c), {})),
  );
  app.post(
    '/painel/entregas/:id/reenvio',
    guard.act(WRITE, async (visit) => {
      const id = pathId(visit.c);
      const answer = await visit.api.send('POST', `/v1/entregas/${id}/reenvio`);
      if (answer.ok) return visit.c.redirect(`/painel/entregas/${id}?feito=reenvio`, 303);
      if (answer.status !== 409) throw new Refused(answer);
      return showDelivery(visit, id, { refusal: answer });
    }),
  );
  app.get(
    '/painel/entregas/:id/prova',
    guard.show(READ, async ({ c, api }) => {
      const id = pathId(c);
      const proof = await api.pass(`/v1/entregas/${id}/prova`);
      proof.headers.set('Content-Disposition', `attachment; filename="prova-${id}.json"`);
      return proof;
    }),
  );
}
