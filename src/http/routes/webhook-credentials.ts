/** `…/v1/webhooks/{id}/credenciais`: headers, authorization and certificate that the gateway before a receiver demands. */
import { NOT_FOUND } from '../../contract/refusals.ts';
import { shownCredentials, webhookCredentials } from '../../contract/resources/webhook-credentials.ts';
import { readCredentials, setCredentials } from '../../webhooks/gateway/credentials.ts';
import { answered } from '../answer.ts';
import { CREDENTIALS_DESCRIPTION } from '../openapi/texts.ts';
import { route, type Routes } from '../route.ts';
import { targetUrl } from '../target-url.ts';

const PATH = '/v1/webhooks/{id}/credenciais';

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
