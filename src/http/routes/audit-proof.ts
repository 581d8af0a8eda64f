/** `GET /v1/auditoria/entregas/{id}/prova`: one delivery as evidence, to be checked with `audit check`. */
import { z } from 'zod';
import { maskProof } from '../../audit/proof/mask-proof.ts';
import { readProof } from '../../audit/proof/proof.ts';
import { proof } from '../../contract/resources/audit-resource.ts';
import { NOT_FOUND } from '../../contract/refusals.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';

export function addAuditProofRoutes(add: AddOperation, { archived }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: '/v1/auditoria/entregas/{id}/prova',
      summary: {
        pt: 'Uma entrega como prova: evento, bytes exatos, tentativas e o caminho de cada um a um checkpoint assinado',
        en: 'A delivery as evidence: event, exact bytes, attempts and the way from each to a signed checkpoint',
      },
      description: {
        pt:
          'O comando audit check confere o arquivo sem banco de dados. tamanho escolhe o checkpoint, pelo seu número de selos; sem ' +
          'ele, o mais novo. Com o escopo auditoria:cpf o arquivo traz o corpo como foi enviado, CPF incluído; sem ele vem ' +
          'mascarado, e não se confere por inteiro.',
        en: 'The command audit check checks the file without a database. tamanho chooses the checkpoint, by its number of seals; without it, the newest. With the scope auditoria:cpf the file brings the body as it was sent, CPF included; without it it is masked, and cannot be checked as a whole.',
      },
      scope: 'auditoria:read',
      isReport: true,
      query: z.strictObject({
        tamanho: z
          .string()
          .regex(/^[1-9]\d{0,14}$/, 'deve ser um número de selos')
          .optional(),
      }),
      answers: { 200: { description: { pt: 'A prova', en: 'The evidence' }, schema: proof } },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ id, seesCpf, query: { tamanho }, reading }) => {
      const found = await readProof(reading.pool, id, tamanho === undefined ? null : Number(tamanho), archived);
      if (found === null) return NOT_FOUND;
      return { status: 200, body: seesCpf ? found : maskProof(found) };
    },
  );
}
