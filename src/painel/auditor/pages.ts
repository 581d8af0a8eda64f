/** What auditors ask: attempts and their export, the balance, the seals, one delivery as evidence. */
import type { Proof } from '../../contract/resources/audit-resource.ts';
import type { CheckedProofResource } from '../../contract/resources/audit-verdicts.ts';
import type { Guard } from '../frame/guard.ts';
import { pathId } from '../address.ts';
import { exportPath, showAttempts } from './attempts.ts';
import { showBalance } from './balance.ts';
import { showEvidence } from './evidence.ts';
import { showSeals, verifyChain } from './seals.ts';

const READ = { reader: 'auditor', scope: 'auditoria:read' } as const;

export function addAuditorPages(guard: Guard): void {
  guard.show('/painel/auditoria', READ, (visit) => showAttempts(visit));
  guard.show('/painel/auditoria/exportar', READ, (visit) => visit.api.pass(exportPath(visit)));
  guard.show('/painel/auditoria/balanco', READ, (visit) => showBalance(visit));
  guard.show('/painel/auditoria/selos', READ, (visit) => showSeals(visit, null));
  guard.act('/painel/auditoria/selos', READ, async (visit, form) =>
    showSeals(visit, await verifyChain(visit, form.get('cabeca') ?? '')),
  );
  guard.show('/painel/auditoria/entregas/:id', READ, async (visit) => {
    const path = `/v1/auditoria/entregas/${pathId(visit.c)}`;
    const [proof, checked] = await Promise.all([
      visit.api.read<Proof>(`${path}/prova`),
      visit.api.read<CheckedProofResource>(`${path}/conferencia`),
    ]);
    return showEvidence(visit, proof, checked);
  });
  guard.show('/painel/auditoria/entregas/:id/prova', READ, async ({ c, api }) => {
    const id = pathId(c);
    const proof = await api.read<Proof>(`/v1/auditoria/entregas/${id}/prova`);
    c.header('Content-Disposition', `attachment; filename="prova-${id}.json"`);
    return c.json(proof);
  });
}
