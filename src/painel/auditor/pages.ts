/** What auditors ask: attempts and their export, the balance, the seals, one delivery as evidence. */
import type { Hono } from 'hono';
import type { Proof } from '../../contract/resources/audit-resource.ts';
import type { CheckedProofResource } from '../../contract/resources/audit-verdicts.ts';
import type { PainelEnv } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { pathId } from '../path-id.ts';
import { exportPath, showAttempts } from './attempts.ts';
import { showBalance } from './balance.ts';
import { showEvidence } from './evidence.ts';
import { showSeals, verifyChain } from './seals.ts';

const READ = { reader: 'auditor', scope: 'auditoria:read' } as const;

export function addAuditorPages(app: Hono<PainelEnv>, guard: Guard): void {
  app.get(
    '/painel/auditoria',
    guard.show(READ, (visit) => showAttempts(visit)),
  );
  app.get(
    '/painel/auditoria/exportar',
    guard.show(READ, (visit) => visit.api.pass(exportPath(visit))),
  );
  app.get(
    '/painel/auditoria/balanco',
    guard.show(READ, (visit) => showBalance(visit)),
  );
  app.get(
    '/painel/auditoria/selos',
    guard.show(READ, (visit) => showSeals(visit, null)),
  );
  app.post(
    '/painel/auditoria/selos',
    guard.act(READ, async (visit, form) => showSeals(visit, await verifyChain(visit, form.get('cabeca') ?? ''))),
  );
  app.get(
    '/painel/auditoria/entregas/:id',
    guard.show(READ, async (visit) => {
      const path = `/v1/auditoria/entregas/${pathId(visit.c)}`;
      const [proof, checked] = await Promise.all([
        visit.api.read<Proof>(`${path}/prova`),
        visit.api.read<CheckedProofResource>(`${path}/conferencia`),
      ]);
      return showEvidence(visit, proof, checked);
    }),
  );
  app.get(
    '/painel/auditoria/entregas/:id/prova',
    guard.show(READ, async ({ c, api }) => {
      const id = pathId(c);
      const proof = await api.read<Proof>(`/v1/auditoria/entregas/${id}/prova`);
      c.header('Content-Disposition', `attachment; filename="prova-${id}.json"`);
      return c.json(proof);
    }),
  );
}
