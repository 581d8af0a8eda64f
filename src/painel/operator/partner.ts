/** One partner as the operator sees it, and the one thing done to it here: it is let go. */
import type { Hono } from 'hono';
import { html } from 'hono/html';
import { notFound } from '../../http/api-error.ts';
import { readPartner, type ShownPartner } from '../../steering/accounts.ts';
import { readBounded } from '../../steering/bounds.ts';
import { deactivatePartner } from '../../steering/off-boarding.ts';
import type { Html, PainelDeps, PainelEnv, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { answerPage } from '../frame/page.ts';
import { confirmed, fact, moment, notice, shortUrl } from '../frame/parts.ts';
import { pathId } from '../path-id.ts';
import { granted, OPERATE, readOperator, reasonField } from './acts.ts';
import { entryAsked, historyPart, lineAsked } from './history.ts';
import { stateOf } from './webhook.ts';

const PATH = '/painel/operacao/parceiros';

export function addOperatorPartner(app: Hono<PainelEnv>, { pool }: PainelDeps, guard: Guard): void {
  app.get(
    `${PATH}/:id`,
    guard.show(OPERATE, async (visit) => {
      const partner = await readBounded(pool, (sql) =>
        readPartner(sql, pathId(visit.c), { after: entryAsked(visit), before: lineAsked(visit) }),
      );
      if (partner === null) throw notFound();
      return show(visit, partner);
    }),
  );
  app.post(
    `${PATH}/:id/desligar`,
    guard.act(OPERATE, async (visit, form) => {
      const id = pathId(visit.c);
      const operator = readOperator(visit, form);
      granted(await pool.transaction((tx) => deactivatePartner(tx, id, operator)));
      return visit.c.redirect(`${PATH}/${id}?feito=desligado`, 303);
    }),
  );
}

function show(visit: Visit, partner: ShownPartner): Response | Promise<Response> {
  const { c, t } = visit;
  const done = t.operator.done[c.req.query('feito') ?? ''];
  const path = `${PATH}/${partner.id}`;
  const texts = { label: t.operator.offBoard, question: t.operator.offBoardConfirm };
  return answerPage(c, {
    title: partner.name,
    body: html`${done === undefined ? '' : notice('done', done)} ${facts(visit, partner)}
      ${
        partner.active
          ? html`<div class="actions">${confirmed(visit, `${path}/desligar`, texts, reasonField(visit))}</div>`
          : ''
      }
      <h2>${t.operator.webhooks}</h2>
      <ul class="plain">
        ${partner.webhooks.map(
          (webhook) =>
            html`<li>
              <a href="/painel/operacao/webhooks/${webhook.id}">${shortUrl(webhook.url)}</a> ${stateOf(visit, webhook)}
            </li>`,
        )}
      </ul>
      ${partner.moreAfter === null ? '' : html`<p><a href="${path}?depois=${partner.moreAfter}">${t.operator.more}</a></p>`}
      ${historyPart(visit, partner.history, partner.olderThan === null ? null : `${path}?antes=${partner.olderThan}`)}`,
  });
}

function facts(visit: Visit, { id, active, signing, documents, issuance, createdAt }: ShownPartner): Html {
  const { t } = visit;
  const state = active
    ? html`<span class="badge badge-entregue">${t.operator.active}</span>`
    : html`<span class="badge">${t.webhooks.inactive}</span>`;
  return html`<dl class="facts">
    ${fact('Id', id, 'id')} ${fact(t.operator.state, html`${state} ${moment(visit, createdAt)}`)}
    ${fact(t.operator.account, html`<code>${signing}</code> <code>${documents}</code> <code>${issuance}</code>`)}
  </dl>`;
}
