/** The worker accepts, as a partner plays it in the sandbox. */
import { acceptance } from '../../contract/resources/acceptance.ts';
import { authorizationConfirmed } from '../../contract/payloads.ts';
import { confirmAuthorization } from '../../core/margin/authorization.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';

export function addSandboxAuthorizationRoutes(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: '/v1/sandbox/autorizacoes',
      summary: { pt: 'O trabalhador aceita a autorização', en: 'The worker accepts the authorization' },
      scope: 'sandbox',
      body: acceptance,
      answers: {
        201: {
          description: { pt: 'A autorização confirmada', en: 'The confirmed authorization' },
          schema: authorizationConfirmed,
        },
      },
    },
    async ({ partnerId, actor, requestId, body }) => ({
      status: 201,
      body: await confirmAuthorization(pool, { partnerId, actor, requestId }, body),
    }),
  );
}
