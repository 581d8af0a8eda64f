/**
 * What a partner sets for a webhook beside its registration: `…/credenciais`, headers, authorization and certificate that the gateway
 * before a receiver demands; `…/opcoes`, its own choices.
 */
import { NOT_FOUND } from '../../contract/refusals.ts';
import { shownCredentials, webhookCredentials } from '../../contract/resources/webhook-credentials.ts';
import { readCredentials, setCredentials } from '../../webhooks/gateway/credentials.ts';
import { answered } from '../answer.ts';
import { CREDENTIALS_DESCRIPTION } from '../openapi/texts.ts';
import { route, type Routes } from '../route.ts';
import { targetUrl } from '../target-url.ts';
import { webhookOptionChanges, webhookOptions } from '../../contract/resources/webhook.ts';
import { readOptions, setOptions } from '../../webhooks/changes.ts';

const CREDENTIALS = '/v1/webhooks/{id}/credenciais';

const SHOWN = answered(200, shownCredentials, {
  pt: 'O que está definido, sem segredos',
  en: 'What is set, without secrets',
});

const OPTIONS = '/v1/webhooks/{id}/opcoes';

const OPTIONS_DESCRIPTION = {
  pt:
    'rotulo: um nome seu, que a página e os avisos mostram; null: nenhum. O que falta no corpo fica como está. ' +
    'ordem: nenhuma (a de um webhook novo: cada entrega sai quando vence) ou por_emprestimo: de cada empréstimo uma entrega por ' +
    'vez, por versao_emprestimo; a próxima sai quando a anterior está entregue ou em erro, e os outros empréstimos não esperam. ' +
    'Uma entrega que falha segura as seguintes do seu empréstimo por todo o seu calendário de tentativas. Uma suspensa só ' +
    'segura as seguintes enquanto é retomada, e uma reenviada chega depois das que já chegaram. Eventos sem empréstimo não esperam.',
  en: "rotulo: a name of yours, which the page and the alerts show; null: none. What the body leaves out stays. ordem: nenhuma (a new webhook's: each delivery leaves when it is due) or por_emprestimo: of each loan one delivery at a time, by versao_emprestimo; the next leaves when the one before is entregue or erro, and the other loans do not wait. A delivery that fails holds back those of its loan that follow, for its whole schedule. A suspended one holds back those that follow only while it is being resumed, and one that is resent arrives after those that have arrived. Events without a loan do not wait.",
};

const CHOSEN = answered(200, webhookOptions, { pt: 'As opções', en: 'The options' });

export const webhookSettingRoutes: Routes = [
  route(`GET ${CREDENTIALS}`, 'webhooks:read', {
    since: '0.4',
    summary: { pt: 'As credenciais de um webhook, sem segredos', en: 'The credentials of a webhook, without secrets' },
    description: CREDENTIALS_DESCRIPTION,
    answers: SHOWN,
  })(async ({ partnerId, id }, { pool, vault }) => {
    const shown = await readCredentials(pool, vault, partnerId, id);
    return shown === null ? NOT_FOUND : { status: 200, body: shown };
  }),
  ({ allowInsecure }) =>
    route(`PUT ${CREDENTIALS}`, 'webhooks:write', {
      since: '0.4',
      summary: { pt: 'Define as credenciais de um webhook', en: 'Sets the credentials of a webhook' },
      description: CREDENTIALS_DESCRIPTION,
      body: webhookCredentials(targetUrl(allowInsecure)),
      answers: SHOWN,
    })(async (call, { pool, vault }) => {
      const set = await pool.transaction((tx) => setCredentials(tx, vault, call, call.body));
      return 'refused' in set ? set : { status: 200, body: set.ok };
    }),
  route(`DELETE ${CREDENTIALS}`, 'webhooks:write', {
    since: '0.4',
    summary: { pt: 'Remove as credenciais de um webhook', en: 'Removes the credentials of a webhook' },
    answers: { 204: { description: { pt: 'Nenhuma está definida', en: 'None is set' } } },
  })(async (call, { pool, vault }) => {
    const removed = await pool.transaction((tx) => setCredentials(tx, vault, call, null));
    return 'refused' in removed ? removed : { status: 204 };
  }),
  route(`GET ${OPTIONS}`, 'webhooks:read', {
    since: '0.2',
    summary: { pt: 'As opções de um webhook', en: 'The options of a webhook' },
    description: OPTIONS_DESCRIPTION,
    answers: CHOSEN,
  })(async ({ partnerId, id }, { pool }) => {
    const options = await readOptions(pool, partnerId, id);
    return options === null ? NOT_FOUND : { status: 200, body: { ordem: options.order, rotulo: options.label } };
  }),
  route(`PUT ${OPTIONS}`, 'webhooks:write', {
    since: '0.2',
    summary: { pt: 'Escolhe as opções de um webhook', en: 'Chooses the options of a webhook' },
    description: OPTIONS_DESCRIPTION,
    body: webhookOptionChanges,
    answers: CHOSEN,
  })(async (call, { pool }) => {
    const { ordem: order, rotulo: label } = call.body;
    const set = await pool.transaction((tx) => setOptions(tx, call, { order, label }));
    if ('refused' in set) return set;
    const options = await readOptions(pool, call.partnerId, call.id);
    return options === null ? NOT_FOUND : { status: 200, body: { ordem: options.order, rotulo: options.label } };
  }),
];
