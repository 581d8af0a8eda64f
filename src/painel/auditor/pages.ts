/** What auditors ask: attempts and their export, the balance, the seals, one delivery as evidence. */
import type { Hono } from 'hono';
import { checkProof } from '../../audit/proof/check-proof.ts';
import type { Proof } from '../../contract/resources/audit-resource.ts';
import type { PainelDeps, PainelEnv } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { pathId } from '../path-id.ts';
import { exportPath, showAttempts } from './attempts.ts';
import { showBalance } from './balance.ts';
import { showEvidence } from './evidence.ts';
import { showSeals, verifyChain } from './seals.ts';

const READ = { reader: 'auditor', scope: 'auditoria:read' } as const;
const PROOF = (id: string) => `/v1/auditoria/entregas/${id}/prova`;

export function addAuditorPages(app: Hono<PainelEnv>, deps: PainelDeps, guard: Guard): void {
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
    guard.show(READ, (visit) => showSeals(visit, deps, null)),
  );
  app.post(
    '/painel/auditoria/selos',
    guard.act(READ, async (visit, form) => showSeals(visit, deps, await verifyChain(deps, form.get('cabeca') ?? ''))),
  );
  app.get(
    '/painel/auditoria/entregas/:id',
    guard.show(READ, async (visit) => {
      const proof = await visit.api.read<Proof>(PROOF(pathId(visit.c)));
      return showEvidence(visit, proof, checkProof(JSON.stringify(proof), { keys: deps.checkpointKeys }));
    }),
  );
  app.get(
    '/painel/auditoria/entregas/:id/prova',
    guard.show(READ, async ({ c, api }) => {
      const id = pathId(c);
      const proof = await api.read<Proof>(PROOF(id));
      c.header('Content-Disposition', `attachment; filename="prova-${id}.json"`);
      return c.json(proof);
    }),
  );
}
