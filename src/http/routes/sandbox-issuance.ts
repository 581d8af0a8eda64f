/** The asynchronous issuance as the partner plays its end (decisions, "Sandbox"; contract, "Rules" 6). */
import { z } from 'zod';
import { loanResource } from '../../contract/loan-resource.ts';
import { text } from '../../contract/values.ts';
import { concludeIssuance, failIssuance } from '../../core/issuance.ts';
import { view } from '../../loan/view.ts';
import type { HttpDeps } from '../deps.ts';
import { handledLoan } from '../handled.ts';
import type { AddOperation } from '../operation.ts';

const DEFAULT_REASON = 'Tentativas de emissão esgotadas';

export function addSandboxIssuanceRoutes(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: '/v1/sandbox/emprestimos/{id}/emissao',
      summary: 'A emissão assíncrona termina',
      scope: 'sandbox',
      body: z.strictObject({ resultado: z.enum(['emitida', 'falhou']), motivo: text(500).optional() }),
      answers: { 200: { description: 'O empréstimo', schema: loanResource } },
      errors: ['NAO_ENCONTRADO', 'TRANSICAO_INVALIDA'],
    },
    async ({ partnerId, actor, requestId, id, body }, c) => {
      const provenance = { partnerId, actor, requestId };
      const handled =
        body.resultado === 'emitida'
          ? await concludeIssuance(pool, provenance, id)
          : await failIssuance(pool, provenance, id, body.motivo ?? DEFAULT_REASON);
      return c.json(view(handledLoan(handled)), 200);
    },
  );
}
