/** One webhook as the operator sees and steers it: mute, unmute, cap. */
import type { Hono } from 'hono';
import { html } from 'hono/html';
import { MAX_CAP } from '../../delivery/queue/orders/cap.ts';
import { notFound } from '../../http/api-error.ts';
import { MAX_LINE } from '../../steering/author.ts';
import { COUNTED, readBounded } from '../../steering/bounds.ts';
import { readWebhook, type ShownWebhook } from '../../steering/webhooks.ts';
import { capWebhook } from '../../webhooks/capping.ts';
import { muteWebhook, unmuteWebhook } from '../../webhooks/muting.ts';
import type { Html, PainelDeps, PainelEnv, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { answerPage } from '../frame/page.ts';
import { confirmed, fact, formToken, moment, notice } from '../frame/parts.ts';
import { pathId } from '../path-id.ts';
import { granted, invalid, OPERATE, readOperator, reasonField } from './acts.ts';
import { historyPart, lineAsked } from './history.ts';

const PATH = '/painel/operacao/webhooks';

export function addOperatorWebhook(app: Hono<PainelEnv>, { pool }: PainelDeps, guard: Guard): void {
  const back = ({ c }: Visit, done: string) => c.redirect(`${PATH}/${pathId(c)}?feito=${done}`, 303);
  app.get(
    `${PATH}/:id`,
    guard.show(OPERATE, async (visit) => {
      const webhook = await readBounded(pool, (sql) => readWebhook(sql, pathId(visit.c), lineAsked(visit)));
      if (webhook === null) throw notFound();
      return show(visit, webhook);
    }),
  );
  app.post(
    `${PATH}/:id/silenciar`,
    guard.act(OPERATE, async (visit, form) => {
      const operator = readOperator(visit, form);
      granted(await pool.transaction((tx) => muteWebhook(tx, pathId(visit.c), operator)));
      return back(visit, 'silenciado');
    }),
  );
  app.post(
    `${PATH}/:id/reabrir`,
    guard.act(OPERATE, async (visit, form) => {
      const operator = readOperator(visit, form);
      granted(await pool.transaction((tx) => unmuteWebhook(tx, pathId(visit.c), operator)));
      return back(visit, 'reaberto');
    }),
  );
  app.post(
    `${PATH}/:id/limite`,
    guard.act(OPERATE, async (visit, form) => {
      const id = pathId(visit.c);
      const cap = Number(form.get('limite') ?? '');
      if (!Number.isSafeInteger(cap) || cap < 1 || cap > MAX_CAP) {
        throw invalid('limite', `deve ser um número inteiro de 1 a ${MAX_CAP}`);
      }
      const operator = readOperator(visit, form, 'optional');
      granted(await pool.transaction((tx) => capWebhook(tx, id, cap, operator)));
      return back(visit, 'limite');
    }),
  );
}

function show(visit: Visit, webhook: ShownWebhook): Response | Promise<Response> {
  const { c, t } = visit;
  const done = t.operator.done[c.req.query('feito') ?? ''];
  return answerPage(c, {
    title: t.operator.webhook,
    body: html`${done === undefined ? '' : notice('done', done)} ${facts(visit, webhook)} ${actions(visit, webhook)}
    ${historyPart(visit, webhook.history, webhook.olderThan === null ? null : `${PATH}/${webhook.id}?antes=${webhook.olderThan}`)}`,
  });
}

function facts(visit: Visit, webhook: ShownWebhook): Html {
  const { t } = visit;
  const { deliveries } = webhook;
  return html`<dl class="facts">
      ${fact(t.webhooks.url, html`<code>${webhook.url}</code>`, 'wrap')} ${fact('Id', webhook.id, 'id')}
      ${fact(t.operator.partnerPage, html`<a href="/painel/operacao/parceiros/${webhook.partnerId}">${webhook.partner}</a>`)}
      ${fact(t.operator.state, stateOf(visit, webhook))}
      ${fact(t.webhooks.events, html`${webhook.events.map((name) => html`<code>${name}</code> `)}`)}
    </dl>
    <dl class="tiles">
      ${tile(visit, t.operator.pending, deliveries.pending)} ${tile(visit, t.operator.inFlight, deliveries.inFlight)}
      ${tile(visit, t.operator.suspended, deliveries.suspended)} ${tile(visit, t.operator.ended, deliveries.failed)}
      ${tile(visit, t.operator.cap, webhook.cap)}
    </dl>`;
}

function tile({ t }: Visit, label: string, count: number): Html {
  return html`<div class="tile">
    <dt>${label}</dt>
    <dd>${count > COUNTED ? t.operator.moreThan(COUNTED) : count}</dd>
  </div>`;
}

/** Muted, inactive, failing or none of these. */
export function stateOf(
  visit: Visit,
  { active, mutedAt, failingSince }: Pick<ShownWebhook, 'active' | 'mutedAt' | 'failingSince'>,
): Html {
  const { t } = visit;
  if (!active) return html`<span class="badge">${t.webhooks.inactive}</span>`;
  if (mutedAt !== null) {
    return html`<span class="badge badge-pendente">${t.operator.mutedSince}</span> ${moment(visit, mutedAt)}`;
  }
  if (failingSince !== null) {
    return html`<span class="badge badge-erro">${t.operator.failingSince}</span> ${moment(visit, failingSince)}`;
  }
  return html`<span class="badge badge-entregue">${t.operator.active}</span>`;
}

function actions(visit: Visit, { id, active, mutedAt, cap }: ShownWebhook): Html {
  const { t } = visit;
  const path = `${PATH}/${id}`;
  const mute = { label: t.operator.mute, question: t.operator.muteConfirm };
  const unmute = { label: t.operator.unmute, question: t.operator.unmuteConfirm };
  return html`<div class="actions">
    <form class="inline" method="post" action="${path}/limite">
      ${formToken(visit)}
      <label
        >${t.operator.cap} <input name="limite" type="number" min="1" max="${MAX_CAP}" value="${cap}" required
      /></label>
      <label>${t.operator.reason} <input name="motivo" size="24" maxlength="${MAX_LINE}" autocomplete="off" /></label>
      <button>${t.operator.setCap}</button>
    </form>
    ${mutedAt !== null ? confirmed(visit, `${path}/reabrir`, unmute, reasonField(visit)) : ''}
    ${active && mutedAt === null ? confirmed(visit, `${path}/silenciar`, mute, reasonField(visit)) : ''}
  </div>`;
}
