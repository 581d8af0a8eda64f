/** `…/v1/webhooks/{id}/credenciais`: headers, authorization and certificate that the gateway before a receiver demands. */
import { NOT_FOUND } from '../../contract/refusals.ts';
import { shownCredentials, webhookCredentials } from '../../contract/resources/webhook-credentials.ts';
import { readCredentials, setCredentials } from '../../webhooks/gateway/credentials.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';
import { targetUrl } from '../target-url.ts';

const PATH = '/v1/webhooks/{id}/credenciais';

export const CREDENTIALS_DESCRIPTION = {
  pt:
    'O que o gateway do receptor exige em cada POST: até 4 cabeçalhos, uma autorização (basic, bearer ou oauth2 com client ' +
    'credentials), um certificado de cliente. PUT substitui tudo; a resposta traz nomes e tipos, nunca um segredo. O token de ' +
    'oauth2 é pedido uma vez e usado até 60 s antes do fim; depois de um 401 é pedido de novo. Sem token a tentativa termina em ' +
    'erro_autorizacao, sem POST.',
  en: "What the receiver's gateway demands of each POST: up to 4 headers, one authorization (basic, bearer, or oauth2 by client credentials), a client certificate. PUT replaces all; the answer has names and kinds, never a secret. The token of oauth2 is asked for once and used until 60 s before its end; after a 401 it is asked for anew. Without a token the attempt ends in erro_autorizacao, without a POST.",
};

const answers = answered(200, shownCredentials, {
  pt: 'O que está definido, sem segredos',
  en: 'What is set, without secrets',
});

export const webhookCredentialRoutes: Routes = [
  route(`GET ${PATH}`, 'webhooks:read', {
    since: '0.4',
    summary: { pt: 'As credenciais de um webhook, sem segredos', en: 'The credentials of a webhook, without secrets' },
    description: CREDENTIALS_DESCRIPTION,
    answers,
  })(async ({ partnerId, id }, { pool, vault }) => {
    const shown = await readCredentials(pool, vault, partnerId, id);
    return shown === null ? NOT_FOUND : { status: 200, body: shown };
  }),
  ({ allowInsecure }) =>
    route(`PUT ${PATH}`, 'webhooks:write', {
      since: '0.4',
      summary: { pt: 'Define as credenciais de um webhook', en: 'Sets the credentials of a webhook' },
      description: CREDENTIALS_DESCRIPTION,
      body: webhookCredentials(targetUrl(allowInsecure)),
      answers,
    })(async ({ partnerId, id, actor, requestId, body }, { pool, vault }) => {
      const subject = { partnerId, id, actor, requestId };
      const set = await pool.transaction((tx) => setCredentials(tx, vault, subject, body));
      return 'refused' in set ? set : { status: 200, body: set.ok };
    }),
  route(`DELETE ${PATH}`, 'webhooks:write', {
    since: '0.4',
    summary: { pt: 'Remove as credenciais de um webhook', en: 'Removes the credentials of a webhook' },
    answers: { 204: { description: { pt: 'Nenhuma está definida', en: 'None is set' } } },
  })(async ({ partnerId, id, actor, requestId }, { pool, vault }) => {
    const removed = await pool.transaction((tx) =>
      setCredentials(tx, vault, { partnerId, id, actor, requestId }, null),
    );
    return 'refused' in removed ? removed : { status: 204 };
  }),
];
