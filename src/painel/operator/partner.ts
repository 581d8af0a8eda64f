/** One partner as the operator sees it, and the one thing done to it here: it is let go. */
import { html } from 'hono/html';
import type { OperatorWebhooks, ShownPartner } from '../../contract/resources/operator.ts';
import type { Html, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { answerPage } from '../frame/page.ts';
import { confirmed } from '../frame/forms.ts';
import { doneNotice, fact, moment, plainList } from '../frame/parts.ts';
import { pathId } from '../address.ts';
import { OPERATE, order, reasonField, historyPart } from './acts.ts';
import { linkTo, stateOf } from './webhook.ts';

const PATH = '/painel/operacao/parceiros';

export function addOperatorPartner(guard: Guard): void {
  guard.show(`${PATH}/:id`, OPERATE, show);
  guard.act(`${PATH}/:id/desligar`, OPERATE, (visit, form) => {
    const id = pathId(visit.c);
    const body = { motivo: form.get('motivo') ?? '' };
    return order(visit, ['POST', `/v1/operador/parceiros/${id}/desligar`, body], `${PATH}/${id}`, 'desligado');
  });
}

async function show(visit: Visit): Promise<Response> {
  const { c, t, api } = visit;
  const id = pathId(c);
  const [partner, webhooks] = await Promise.all([
    api.read<ShownPartner>(`/v1/operador/parceiros/${id}`, { cursor: c.req.query('antes') ?? '' }),
    api.read<OperatorWebhooks>('/v1/operador/webhooks', { parceiro_id: id, cursor: c.req.query('depois') ?? '' }),
  ]);
  const path = `${PATH}/${id}`;
  const texts = { label: t.operator.offBoard, question: t.operator.offBoardConfirm };
  return answerPage(c, {
    title: partner.nome,
    body: html`${doneNotice(visit, t.operator.done)} ${facts(visit, partner)}
      ${
        partner.ativo
          ? html`<div class="actions">${confirmed(visit, `${path}/desligar`, texts, reasonField(visit))}</div>`
          : ''
      }
      <h2>${t.frame.webhooks}</h2>
      ${plainList(webhooks.itens.map((webhook) => html`${linkTo(webhook)} ${stateOf(visit, webhook)}`))}
      ${webhooks.proximo_cursor === null ? '' : html`<p><a href="${path}?depois=${webhooks.proximo_cursor}">${t.operator.more}</a></p>`}
      ${historyPart(visit, partner, path)}`,
  });
}

function facts(visit: Visit, partner: ShownPartner): Html {
  const { t } = visit;
  const { id, ativo, tipo_assinatura, entrega_documentos, emissao, criado_em } = partner;
  const state = ativo
    ? html`<span class="badge badge-entregue">${t.operator.states.ativa}</span>`
    : html`<span class="badge">${t.webhooks.stopped.inativa}</span>`;
  const account = html`<code>${tipo_assinatura}</code> <code>${entrega_documentos}</code> <code>${emissao}</code>`;
  return html`<dl class="facts">
    ${fact('Id', id, 'id')} ${fact(t.operator.state, html`${state} ${moment(visit, criado_em)}`)}
    ${fact(t.operator.account, account)}
  </dl>`;
}
