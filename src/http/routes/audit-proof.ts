/** `GET /v1/auditoria/entregas/{id}/prova`: one delivery as evidence, to be checked with `audit check`. */
import { readProof } from '../../audit/proof.ts';
import { proof } from '../../contract/audit-resource.ts';
import { notFound } from '../api-error.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';

export function addAuditProofRoutes(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: '/v1/auditoria/entregas/{id}/prova',
      summary: 'Uma entrega como prova: evento, bytes exatos, tentativas e os selos que os cobrem',
      description:
        'O comando audit check confere o arquivo sem banco de dados. Traz o corpo como foi enviado, CPF incluído.',
      scope: 'auditoria:read',
      answers: { 200: { description: 'A prova', schema: proof } },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ id }, c) => {
      const found = await readProof(pool, id);
      if (found === null) throw notFound();
      return c.json(found, 200);
    },
  );
}
