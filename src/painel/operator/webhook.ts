/** One webhook as the operator sees and steers it: mute, unmute, cap. */
import { html } from 'hono/html';
import {
  COUNTED,
  MAX_CAP,
  MAX_LINE,
  type OperatorWebhook,
  type ShownWebhook,
} from '../../contract/resources/operator.ts';
import type { Html, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { answerPage } from '../frame/page.ts';
import { confirmed, formToken, input } from '../frame/forms.ts';
import { doneNotice, fact, moment, shortUrl, tile } from '../frame/parts.ts';
import { pathId } from '../address.ts';
import { OPERATE, order, reasonField, historyPart } from './acts.ts';

const PATH = '/painel/operacao/webhooks';

export function addOperatorWebhook(guard: Guard): void {
  guard.show(`${PATH}/:id`, OPERATE, show);
  const acts = { silenciar: 'silenciado', reabrir: 'reaberto' };
  for (const [act, done] of Object.entries(acts)) {
    guard.act(`${PATH}/:id/${act}`, OPERATE, (visit, form) => {
      const id = pathId(visit.c);
      const body = { motivo: form.get('motivo') ?? '' };
      return order(visit, ['POST', `/v1/operador/webhooks/${id}/${act}`, body], `${PATH}/${id}`, done);
    });
  }
  guard.act(`${PATH}/:id/limite`, OPERATE, (visit, form) => {
    const id = pathId(visit.c);
    const [cap, reason] = [form.get('limite') ?? '', form.get('motivo') ?? ''];
    const body = { limite: cap === '' ? null : Number(cap), ...(reason !== '' && { motivo: reason }) };
    return order(visit, ['PUT', `/v1/operador/webhooks/${id}/limite`, body], `${PATH}/${id}`, 'limite');
  });
}

async function show(visit: Visit): Promise<Response> {
  const { c, t, api } = visit;
  const id = pathId(c);
  const webhook = await api.read<ShownWebhook>(`/v1/operador/webhooks/${id}`, { cursor: c.req.query('antes') ?? '' });
  return answerPage(c, {
    title: t.operator.webhook,
    body: html`${doneNotice(visit, t.operator.done)} ${facts(visit, webhook)} ${actions(visit, webhook)}
    ${historyPart(visit, webhook, `${PATH}/${id}`)}`,
  });
}

function facts(visit: Visit, webhook: ShownWebhook): Html {
  const { t } = visit;
  const { entregas } = webhook;
  const counted = (label: string, count: number) => tile(label, count > COUNTED ? t.operator.moreThan(COUNTED) : count);
  return html`<dl class="facts">
      ${fact(t.webhooks.url, html`<code>${webhook.url}</code>`, 'wrap')} ${fact('Id', webhook.id, 'id')}
      ${fact(t.frame.partner, html`<a href="/painel/operacao/parceiros/${webhook.parceiro_id}">${webhook.parceiro}</a>`)}
      ${fact(t.operator.state, stateOf(visit, webhook))}
      ${webhook.certificado_ate === null ? '' : fact(t.webhooks.certificate, moment(visit, webhook.certificado_ate))}
      ${webhook.certificado_proprio_ate === null ? '' : fact(t.webhooks.ownCertificate, moment(visit, webhook.certificado_proprio_ate))}
      ${fact(t.frame.events, html`${webhook.eventos.map((name) => html`<code>${name}</code> `)}`, 'wide')}
    </dl>
    <dl class="tiles">
      ${counted(t.overview.pending, entregas.pendentes)} ${counted(t.operator.inFlight, entregas.em_andamento)}
      ${counted(t.operator.suspended, entregas.suspensas)} ${counted(t.operator.ended, entregas.em_erro)}
      ${tile(t.operator.cap, webhook.limite)}
    </dl>`;
}

export function linkTo({ id, url }: Pick<OperatorWebhook, 'id' | 'url'>): Html {
  return html`<a href="${PATH}/${id}">${shortUrl(url)}</a>`;
}

/** Muted, inactive, failing or none of these. */
export function stateOf(visit: Visit, { ativo, silenciado_desde, falhando_desde }: OperatorWebhook): Html {
  const { t } = visit;
  if (!ativo) return html`<span class="badge">${t.webhooks.stopped.inativa}</span>`;
  if (silenciado_desde !== null) {
    return html`<span class="badge badge-pendente">${t.operator.mutedSince}</span> ${moment(visit, silenciado_desde)}`;
  }
  if (falhando_desde !== null) {
    return html`<span class="badge badge-erro">${t.operator.failingSince}</span> ${moment(visit, falhando_desde)}`;
  }
  return html`<span class="badge badge-entregue">${t.operator.states.ativa}</span>`;
}

function actions(visit: Visit, { id, ativo, silenciado_desde, limite }: ShownWebhook): Html {
  const { t } = visit;
  const path = `${PATH}/${id}`;
  const mute = { label: t.operator.mute, question: t.operator.muteConfirm };
  const unmute = { label: t.operator.unmute, question: t.operator.unmuteConfirm };
  return html`<div class="actions">
    <form class="inline" method="post" action="${path}/limite">
      ${formToken(visit)}
      ${input(t.operator.cap, 'limite', limite, html`type="number" min="1" max="${MAX_CAP}" required`)}
      ${input(t.operator.reason, 'motivo', '', html`size="24" maxlength="${MAX_LINE}" autocomplete="off"`)}
      <button>${t.operator.setCap}</button>
    </form>
    ${silenciado_desde !== null ? confirmed(visit, `${path}/reabrir`, unmute, reasonField(visit)) : ''}
    ${ativo && silenciado_desde === null ? confirmed(visit, `${path}/silenciar`, mute, reasonField(visit)) : ''}
  </div>`;
}
