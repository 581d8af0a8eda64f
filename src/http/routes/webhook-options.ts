/** `GET` and `PUT /v1/webhooks/{id}/opcoes`: what a partner chooses for a webhook beside its registration. */
import { NOT_FOUND } from '../../contract/refusals.ts';
import { webhookOptionChanges, webhookOptions } from '../../contract/resources/webhook.ts';
import { readOptions, setOptions } from '../../webhooks/changes.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';

const PATH = '/v1/webhooks/{id}/opcoes';

const DESCRIPTION = {
  pt:
    'rotulo: um nome seu, que a página e os avisos mostram; null: nenhum. O que falta no corpo fica como está. ' +
    'ordem: nenhuma (a de um webhook novo: cada entrega sai quando vence) ou por_emprestimo: de cada empréstimo uma entrega por ' +
    'vez, por versao_emprestimo; a próxima sai quando a anterior está entregue ou em erro, e os outros empréstimos não esperam. ' +
    'Uma entrega que falha segura as seguintes do seu empréstimo por todo o seu calendário de tentativas. Uma suspensa só ' +
    'segura as seguintes enquanto é retomada, e uma reenviada chega depois das que já chegaram. Eventos sem empréstimo não esperam.',
  en: "rotulo: a name of yours, which the page and the alerts show; null: none. What the body leaves out stays. ordem: nenhuma (a new webhook's: each delivery leaves when it is due) or por_emprestimo: of each loan one delivery at a time, by versao_emprestimo; the next leaves when the one before is entregue or erro, and the other loans do not wait. A delivery that fails holds back those of its loan that follow, for its whole schedule. A suspended one holds back those that follow only while it is being resumed, and one that is resent arrives after those that have arrived. Events without a loan do not wait.",
};

const answers = answered(200, webhookOptions, { pt: 'As opções', en: 'The options' });

export const webhookOptionRoutes: Routes = [
  route(`GET ${PATH}`, 'webhooks:read', {
    since: '0.2',
    summary: { pt: 'As opções de um webhook', en: 'The options of a webhook' },
    description: DESCRIPTION,
    answers,
  })(async ({ partnerId, id }, { pool }) => {
    const options = await readOptions(pool, partnerId, id);
    return options === null ? NOT_FOUND : { status: 200, body: { ordem: options.order, rotulo: options.label } };
  }),
  route(`PUT ${PATH}`, 'webhooks:write', {
    since: '0.2',
    summary: { pt: 'Escolhe as opções de um webhook', en: 'Chooses the options of a webhook' },
    description: DESCRIPTION,
    body: webhookOptionChanges,
    answers,
  })(async ({ partnerId, id, actor, requestId, body: { ordem, rotulo } }, { pool }) => {
    const subject = { partnerId, id, actor, requestId };
    const set = await pool.transaction((tx) => setOptions(tx, subject, { order: ordem, label: rotulo }));
    if ('refused' in set) return set;
    const options = await readOptions(pool, partnerId, id);
    return options === null ? NOT_FOUND : { status: 200, body: { ordem: options.order, rotulo: options.label } };
  }),
];
