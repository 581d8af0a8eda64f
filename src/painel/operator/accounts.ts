/** One webhook and one partner as the operator sees and steers them: mute, unmute and cap the one, let the other go. */
import { html } from 'hono/html';
import {
  COUNTED,
  MAX_CAP,
  MAX_LINE,
  type OperatorWebhook,
  type OperatorWebhooks,
  type ShownPartner,
  type ShownWebhook,
} from '../../contract/resources/operator.ts';
import type { Html, Visit } from '../env.ts';
import { confirmed, input, postForm } from '../frame/forms.ts';
import { type Guard, settle } from '../frame/guard.ts';
import { OPERATE } from '../frame/nav.ts';
import type { Page } from '../frame/page.ts';
import { badge, code, fact, moment, onward, plainList, shortUrl, table, tile } from '../frame/parts.ts';

const WEBHOOKS = '/painel/operacao/webhooks';
const PARTNERS = '/painel/operacao/parceiros';

/** What is done with a reason alone, and the word of what was done. */
const ACTS = [
  [WEBHOOKS, 'silenciar', 'silenciado'],
  [WEBHOOKS, 'reabrir', 'reaberto'],
  [PARTNERS, 'desligar', 'desligado'],
] as const;

export function addOperatorAccounts(guard: Guard): void {
  guard.show(`${WEBHOOKS}/:id`, OPERATE, showWebhook);
  guard.show(`${PARTNERS}/:id`, OPERATE, showPartner);
  for (const [pages, act, done] of ACTS) {
    guard.act(`${pages}/:id/${act}`, OPERATE, async (visit, form) => {
      const page = `${pages}/${visit.id}`;
      const body = { motivo: form.get('motivo') ?? '' };
      const answer = await visit.api.send('POST', `${page.replace('/painel/operacao', '/v1/operador')}/${act}`, body);
      return settle(visit, answer, page, done);
    });
  }
  guard.act(`${WEBHOOKS}/:id/limite`, OPERATE, async (visit, form) => {
    const [cap, reason] = [form.get('limite') ?? '', form.get('motivo') ?? ''];
    const body = { limite: cap === '' ? null : Number(cap), ...(reason !== '' && { motivo: reason }) };
    const answer = await visit.api.send('PUT', `/v1/operador/webhooks/${visit.id}/limite`, body);
    return settle(visit, answer, `${WEBHOOKS}/${visit.id}`, 'limite');
  });
}

async function showWebhook(visit: Visit): Promise<Page> {
  const { t, api, id } = visit;
  const webhook = await api.read<ShownWebhook>(`/v1/operador/webhooks/${id}`, { cursor: visit.query('antes').antes });
  const { entregas } = webhook;
  const counted = (label: string, count: number) => tile(label, count > COUNTED ? t.operator.moreThan(COUNTED) : count);
  return {
    title: t.operator.webhook,
    done: t.operator.done,
    body: html`<dl class="facts">
        ${fact(t.webhooks.url, code(webhook.url), 'wrap')} ${fact('Id', webhook.id, 'id')}
        ${fact(t.frame.partner, html`<a href="${PARTNERS}/${webhook.parceiro_id}">${webhook.parceiro}</a>`)}
        ${fact(t.operator.state, stateOf(visit, webhook))}
        ${webhook.certificado_ate && fact(t.webhooks.certificate, moment(visit, webhook.certificado_ate))}
        ${webhook.certificado_proprio_ate && fact(t.webhooks.ownCertificate, moment(visit, webhook.certificado_proprio_ate))}
        ${fact(t.frame.events, html`${webhook.eventos.map((name) => html`${code(name)} `)}`, 'wide')}
      </dl>
      <dl class="tiles">
        ${counted(t.overview.pending, entregas.pendentes)} ${counted(t.operator.inFlight, entregas.em_andamento)}
        ${counted(t.operator.suspended, entregas.suspensas)} ${counted(t.operator.ended, entregas.em_erro)}
        ${tile(t.operator.cap, webhook.limite)}
      </dl>
      ${actions(visit, webhook)} ${historyPart(visit, webhook, WEBHOOKS)}`,
  };
}

function actions(visit: Visit, { ativo, silenciado_desde, limite }: ShownWebhook): Html {
  const { t, id } = visit;
  const path = `${WEBHOOKS}/${id}`;
  const cap = html`${input(t.operator.cap, 'limite', limite, html`type="number" min="1" max="${MAX_CAP}" required`)}
    ${input(t.operator.reason, 'motivo', '', html`size="24" maxlength="${MAX_LINE}" autocomplete="off"`)}
    <button>${t.operator.setCap}</button>`;
  const { mute, muteConfirm, unmute, unmuteConfirm } = t.operator;
  const isMuted = silenciado_desde !== null;
  return html`<div class="actions">
    ${postForm(visit, `${path}/limite`, cap, 'inline')}
    ${isMuted && confirmed(visit, `${path}/reabrir`, unmute, unmuteConfirm, reasonField(visit))}
    ${ativo && !isMuted && confirmed(visit, `${path}/silenciar`, mute, muteConfirm, reasonField(visit))}
  </div>`;
}

async function showPartner(visit: Visit): Promise<Page> {
  const { t, api, id } = visit;
  const { antes, depois } = visit.query('antes', 'depois');
  const [partner, webhooks] = await Promise.all([
    api.read<ShownPartner>(`/v1/operador/parceiros/${id}`, { cursor: antes }),
    api.read<OperatorWebhooks>('/v1/operador/webhooks', { parceiro_id: id, cursor: depois }),
  ]);
  const path = `${PARTNERS}/${id}`;
  const { ativo, tipo_assinatura, entrega_documentos, emissao, criado_em } = partner;
  const { offBoard, offBoardConfirm } = t.operator;
  const account = [tipo_assinatura, entrega_documentos, emissao].map((word) => html`${code(word)} `);
  return {
    title: partner.nome,
    done: t.operator.done,
    body: html`<dl class="facts">
        ${fact('Id', id, 'id')}
        ${fact(t.operator.state, html`${activeBadge(visit, ativo)} ${moment(visit, criado_em)}`)}
        ${fact(t.operator.account, html`${account}`)}
      </dl>
      ${ativo && html`<div class="actions">${confirmed(visit, `${path}/desligar`, offBoard, offBoardConfirm, reasonField(visit))}</div>`}
      <h2>${t.frame.webhooks}</h2>
      ${plainList(webhooks.itens.map((webhook) => html`${linkTo(webhook)} ${stateOf(visit, webhook)}`))}
      ${onward(webhooks.proximo_cursor && `${path}?depois=${webhooks.proximo_cursor}`, t.operator.more)}
      ${historyPart(visit, partner, PARTNERS)}`,
  };
}

export function linkTo({ id, url }: Pick<OperatorWebhook, 'id' | 'url'>): Html {
  return html`<a href="${WEBHOOKS}/${id}">${shortUrl(url)}</a>`;
}

function activeBadge({ t }: Visit, isActive: boolean): Html {
  return isActive ? badge(t.operator.states.ativa, 'entregue') : badge(t.webhooks.stopped.inativa);
}

/** Muted, inactive, failing or none of these. */
function stateOf(visit: Visit, { ativo, silenciado_desde: muted, falhando_desde: failing }: OperatorWebhook): Html {
  const { operator: words } = visit.t;
  if (ativo && muted !== null) return html`${badge(words.mutedSince, 'pendente')} ${moment(visit, muted)}`;
  if (ativo && failing !== null) return html`${badge(words.failingSince, 'erro')} ${moment(visit, failing)}`;
  return activeBadge(visit, ativo);
}

export function reasonField({ t }: Visit, reason = ''): Html {
  return html`<p>
    ${input(t.operator.reason, 'motivo', reason, html`size="40" maxlength="${MAX_LINE}" autocomplete="off" required`)}
    <span class="dim">${t.operator.reasonHint}</span>
  </p>`;
}

/** What happened to a webhook or an account, newest first. */
function historyPart(
  visit: Visit,
  { historico, proximo_cursor: next }: ShownPartner | ShownWebhook,
  pages: string,
): Html {
  const { history, change, author, reason, older } = visit.t.operator;
  const rows = historico.map(({ mudou_em, mudanca, autor, motivo }) => [
    moment(visit, mudou_em),
    code(mudanca),
    autor,
    motivo ?? '',
  ]);
  return html`<h2>${history}</h2>
    ${table(history, [visit.t.loans.at, change, author, reason], rows, { wraps: true })}
    ${onward(next && `${pages}/${visit.id}?antes=${next}`, older)}`;
}
