/** The loan core's door over HTTP: what production has in the place of the sandbox's routes of the same name. */
import { z } from 'zod';
import { acceptance } from '../../contract/acceptance.ts';
import { authorizationConfirmed } from '../../contract/payloads.ts';
import { id } from '../../contract/values.ts';
import { confirmAuthorization } from '../../core/authorization.ts';
import { confirmOnceByKey } from '../../core/nucleus.ts';
import { InactivePartner } from '../../log/append.ts';
import type { HttpDeps } from '../deps.ts';
import { keyTaken } from '../keyed.ts';
import type { AddOperation } from '../operation.ts';
import { invalid } from '../validation.ts';
import { addLoanFactRoutes, CORE_DOOR } from './loan-facts.ts';

const body = z.strictObject({
  parceiro_id: id.meta({ description: 'O parceiro, ativo, que recebe o evento' }),
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
      summary: 'O trabalhador aceita a autorização',
      scope: 'nucleo',
      body,
      idempotencyKey: 'optional',
      answers: { 201: { description: 'A autorização confirmada', schema: authorizationConfirmed } },
      errors: ['IDEMPOTENCIA_EM_ANDAMENTO', 'IDEMPOTENCIA_DIVERGENTE'],
    },
    async ({ actor, requestId, body: given, idempotencyKey: key }, c) => {
      const { parceiro_id: partnerId, ...accepted } = given;
      const provenance = { partnerId, actor, requestId };
      try {
        if (key === null) return c.json(await confirmAuthorization(pool, provenance, accepted), 201);
        const keyed = { operation: `POST ${PATH}`, key, body: given };
        const result = await confirmOnceByKey(pool, keyed, provenance, accepted);
        if (typeof result === 'string') throw keyTaken(result);
        if ('refused' in result) throw new Error('an authorization is never refused');
        return c.json(result.answer.body, 201);
      } catch (error) {
        if (!(error instanceof InactivePartner)) throw error;
        throw invalid([{ campo: 'parceiro_id', mensagem: 'não é um parceiro ativo' }]);
      }
    },
  );
}
