/** The loan core's door over HTTP: what production has in the place of the sandbox's routes of the same name. */
import { z } from 'zod';
import { acceptance } from '../../contract/resources/acceptance.ts';
import { authorizationConfirmed } from '../../contract/payloads.ts';
import { id } from '../../contract/values.ts';
import { confirmFor, confirmOnceByKey } from '../../core/loans/nucleus.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { addLoanFactRoutes, CORE_DOOR } from './loan-facts.ts';

const body = z.strictObject({
  parceiro_id: id.meta({
    text: { pt: 'O parceiro, ativo, que recebe o evento', en: 'The active partner that receives the event' },
  }),
  ...acceptance.shape,
});

const PATH = '/v1/nucleo/autorizacoes';

export function addNucleusRoutes(add: AddOperation, deps: HttpDeps): void {
  addLoanFactRoutes(add, deps, CORE_DOOR);
  const { pool } = deps;
  add(
    {
      method: 'post',
      path: PATH,
      summary: { pt: 'O trabalhador aceita a autorização', en: 'The worker accepts the authorization' },
      scope: 'nucleo',
      body,
      idempotencyKey: 'optional',
      answers: {
        201: {
          description: { pt: 'A autorização confirmada', en: 'The confirmed authorization' },
          schema: authorizationConfirmed,
        },
      },
      errors: ['IDEMPOTENCIA_EM_ANDAMENTO', 'IDEMPOTENCIA_DIVERGENTE'],
    },
    async ({ actor, requestId, body: given, idempotencyKey: key }) => {
      const { parceiro_id: partnerId, ...accepted } = given;
      const provenance = { partnerId, actor, requestId };
      if (key === null) {
        const confirmed = await confirmFor(pool, provenance, accepted);
        return 'refused' in confirmed ? confirmed : { status: 201, body: confirmed.ok };
      }
      const keyed = { operation: `POST ${PATH}`, key, body: given };
      const once = await confirmOnceByKey(pool, keyed, provenance, accepted);
      return 'refused' in once ? once : { status: 201, body: once.ok.answer.body };
    },
  );
}
