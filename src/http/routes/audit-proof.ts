/** `GET /v1/auditoria/entregas/{id}/prova`: one delivery as evidence, to be checked with `audit check`. */
import { z } from 'zod';
import { maskProof } from '../../audit/proof/mask-proof.ts';
import { readProof } from '../../audit/proof/proof.ts';
import { maskedProof, proof } from '../../contract/resources/audit-resource.ts';
import { NOT_FOUND } from '../../contract/refusals.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';

export function addAuditProofRoutes(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: '/v1/auditoria/entregas/{id}/prova',
      summary: 'Uma entrega como prova: evento, bytes exatos, tentativas e os selos que os cobrem',
      description:
        'O comando audit check confere o arquivo sem banco de dados. Com o escopo auditoria:cpf traz o corpo como foi ' +
        'enviado, CPF incluído; sem ele vem mascarada, e dela só se conferem a cadeia de selos e a situação da entrega.',
      scope: 'auditoria:read',
      answers: { 200: { description: 'A prova', schema: z.discriminatedUnion('formato', [proof, maskedProof]) } },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ id, seesCpf }) => {
      const found = await readProof(pool, id);
      if (found === null) return NOT_FOUND;
      return { status: 200, body: seesCpf ? found : maskProof(found) };
    },
  );
}
