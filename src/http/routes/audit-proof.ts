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
      summary: {
        pt: 'Uma entrega como prova: evento, bytes exatos, tentativas e os selos que os cobrem',
        en: 'A delivery as evidence: event, exact bytes, attempts and the seals that cover them',
      },
      description: {
        pt:
          'O comando audit check confere o arquivo sem banco de dados. Com o escopo auditoria:cpf traz o corpo como foi ' +
          'enviado, CPF incluído; sem ele vem mascarada, e dela só se conferem a cadeia de selos e a situação da entrega.',
        en: "The command audit check checks the file without a database. With the scope auditoria:cpf it brings the body as it was sent, CPF included; without it it is masked, and the chain of seals and the delivery's state alone can be checked.",
      },
      scope: 'auditoria:read',
      answers: {
        200: {
          description: { pt: 'A prova', en: 'The evidence' },
          schema: z.discriminatedUnion('formato', [proof, maskedProof]),
        },
      },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ id, seesCpf }) => {
      const found = await readProof(pool, id);
      if (found === null) return NOT_FOUND;
      return { status: 200, body: seesCpf ? found : maskProof(found) };
    },
  );
}
