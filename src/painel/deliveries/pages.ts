/** The deliveries' routes: the search, one delivery, its proof, and the order to send it again. */
import type { Proof } from '../../contract/resources/audit-resource.ts';
import { Refused } from '../api-client.ts';
import type { Guard } from '../frame/guard.ts';
import { READ, WRITE } from '../frame/nav.ts';
import type { Streams } from '../live.ts';
import { pathId } from '../address.ts';
import { showSheet } from './evidence-sheet.ts';
import { showDelivery } from './one.ts';
import { exportDeliveries, showDeliveries, streamDeliveries } from './list.ts';

export function addDeliveryPages(guard: Guard, streams: Streams): void {
  guard.show('/painel/entregas', READ, showDeliveries);
  guard.show('/painel/entregas/exportar', READ, exportDeliveries);
  guard.show('/painel/entregas/ao-vivo', READ, (visit) => streamDeliveries(streams, visit));
  guard.show('/painel/entregas/:id', READ, (visit) => showDelivery(visit, pathId(visit.c)));
  guard.act('/painel/entregas/:id/reenvio', WRITE, async (visit) => {
    const id = pathId(visit.c);
    const answer = await visit.api.send('POST', `/v1/entregas/${id}/reenvio`);
    if (answer.ok) return visit.c.redirect(`/painel/entregas/${id}?feito=reenvio`, 303);
    if (answer.status !== 409) throw new Refused(answer);
    return showDelivery(visit, id, answer);
  });
  guard.show('/painel/entregas/:id/comprovante', READ, async (visit) => {
    const proof = await visit.api.read<Proof>(`/v1/entregas/${pathId(visit.c)}/prova`);
    return showSheet(visit, proof, new URL(visit.c.req.url).origin);
  });
  guard.show('/painel/entregas/:id/prova', READ, async ({ c, api }) => {
    const id = pathId(c);
    const proof = await api.pass(`/v1/entregas/${id}/prova`);
    proof.headers.set('Content-Disposition', `attachment; filename="prova-${id}.json"`);
    return proof;
  });
}
