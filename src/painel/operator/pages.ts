/** What an operator watches: the queue and its pollers live, the webhooks that fail, and those that are muted. */
import type { Hono } from 'hono';
import { html } from 'hono/html';
import { id as uuid } from '../../contract/values.ts';
import { type DueLane, type Operations, readOperations } from '../../delivery/queue/operations.ts';
import { masked } from '../../contract/masking.ts';
import { notFound } from '../../http/api-error.ts';
import { isPartner } from '../../steering/accounts.ts';
import { type PageOf, readBounded } from '../../steering/bounds.ts';
import { listWebhooks, type WebhookLine } from '../../steering/webhooks.ts';
import type { Html, PainelDeps, PainelEnv, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { answerPage } from '../frame/page.ts';
import { moment, outcomeBadge, shortUrl, table } from '../frame/parts.ts';
import type { Streams } from '../live.ts';
import { OPERATE } from './acts.ts';
import { entryAsked } from './history.ts';
import { addOperatorPartner } from './partner.ts';
import { addOperatorWebhook } from './webhook.ts';

const EVERY_MS = 2_000;

export function addOperatorPages(app: Hono<PainelEnv>, deps: PainelDeps, guard: Guard, streams: Streams): void {
  app.get(
    '/painel/operacao',
    guard.show(OPERATE, async (visit) => {
      const { c, t } = visit;
      const [operations, muted] = await Promise.all([
        readOperations(deps.pool),
        readBounded(deps.pool, (sql) => listWebhooks(sql, { state: 'muted' }, { after: entryAsked(visit) })),
      ]);
      return answerPage(c, {
        title: t.operator.title,
        body: html`${findForm(visit)}
          <div data-live="/painel/operacao/ao-vivo">
            <div data-part="fila">${queue(visit, operations)}</div>
            <div data-part="pollers">${pollers(visit, operations)}</div>
            <div data-part="falhas">${failing(visit, operations)}</div>
          </div>
          ${mutedPart(visit, muted)}`,
      });
    }),
  );
  app.get(
    '/painel/operacao/ao-vivo',
    guard.show(OPERATE, (visit) =>
      streams.open(visit, EVERY_MS, async () => {
        const operations = await readOperations(deps.pool);
        return [
          { event: 'fila', data: String(await queue(visit, operations)) },
          { event: 'pollers', data: String(await pollers(visit, operations)) },
          { event: 'falhas', data: String(await failing(visit, operations)) },
        ];
      }),
    ),
  );
  app.get(
    '/painel/operacao/abrir',
    guard.show(OPERATE, async ({ c }) => {
      const id = uuid.safeParse(c.req.query('id')?.trim().toLowerCase());
      if (!id.success) throw notFound();
      const isOfPartner = await deps.pool.run((sql) => isPartner(sql, id.data));
      return c.redirect(`/painel/operacao/${isOfPartner ? 'parceiros' : 'webhooks'}/${id.data}`, 303);
    }),
  );
  addOperatorWebhook(app, deps, guard);
  addOperatorPartner(app, deps, guard);
}

function findForm({ t }: Visit): Html {
  return html`<form class="inline" method="get" action="/painel/operacao/abrir">
    <label>${t.operator.webhookId} <input name="id" size="38" spellcheck="false" required /></label>
    <button>${t.operator.find}</button>
  </form>`;
}

/** A muted webhook is never due, so the queue does not show it. */
function mutedPart(visit: Visit, { rows: webhooks, next }: PageOf<WebhookLine>): Html {
  const { t } = visit;
  return html`<h2>${t.operator.muted}</h2>
    ${webhooks.length === 0 ? html`<p>${t.operator.noneMuted}</p>` : ''}
    <ul class="plain">
      ${webhooks.map(
        ({ id, url, partner, mutedAt }) =>
          html`<li>
            <a href="/painel/operacao/webhooks/${id}">${shortUrl(url)}</a> ${partner} ${t.operator.mutedSince}
            ${moment(visit, mutedAt)}
          </li>`,
      )}
    </ul>
    ${next === null ? '' : html`<p><a href="/painel/operacao?depois=${next}">${t.operator.more}</a></p>`}`;
}

/** A partner's URL as everybody but the partner sees it: without what its query may hold. */
function urlOf(url: string): string {
  return shortUrl(masked(url));
}

function queue(visit: Visit, { oldestDueS, lanes }: Operations): Html {
  const { t } = visit;
  return html`<h2>${t.operator.queue}</h2>
    <dl class="tiles">
      <div class="tile${oldestDueS > 60 ? ' tile-bad' : ''}">
        <dt>${t.operator.oldestDue}</dt>
        <dd>${Math.round(oldestDueS)} s</dd>
      </div>
      <div class="tile">
        <dt>${t.operator.dueNow}</dt>
        <dd>${lanes.filter(({ isDue }) => isDue).length}</dd>
      </div>
    </dl>
    ${lanes.length === 0 ? html`<p>${t.operator.emptyQueue}</p>` : laneTable(visit, lanes)}`;
}

function laneTable(visit: Visit, lanes: readonly DueLane[]): Html {
  const { t } = visit;
  return table(
    t.operator.queue,
    [t.webhooks.url, t.frame.partner, t.operator.nextDue, t.operator.state, { number: t.operator.cap }],
    lanes.map(
      (lane) =>
        html`<tr>
          <td>
            <a href="/painel/operacao/webhooks/${lane.webhookId}">${urlOf(lane.url)}</a>
            <span class="dim id">${lane.webhookId}</span>
          </td>
          <td>${lane.partner}</td>
          <td>${moment(visit, lane.nextDueAt)}</td>
          <td>
            <span class="badge${lane.saturated ? ' badge-erro' : lane.isDue ? ' badge-pendente' : ''}"
              >${lane.saturated ? t.operator.saturated : lane.isDue ? t.operator.due : t.operator.waits}</span
            >${lane.active ? '' : html` <span class="badge">${t.webhooks.inactive}</span>`}
          </td>
          <td class="number">${lane.windowSize === null ? '' : `${lane.windowSize} / `}${lane.maxInFlight}</td>
        </tr>`,
    ),
  );
}

function pollers(visit: Visit, operations: Operations): Html {
  const { t } = visit;
  return html`<h2>${t.operator.pollers}</h2>
    <p class="dim">${t.operator.pollersHint}</p>
    <ul class="plain">
      ${operations.pollers.map(
        ({ name, attempts, lastAt }) =>
          html`<li><code>${name}</code> ${t.operator.attempts(attempts)} ${moment(visit, lastAt)}</li>`,
      )}
    </ul>`;
}

function failing(visit: Visit, operations: Operations): Html {
  const { t } = visit;
  return html`<h2>${t.operator.failing}</h2>
    ${operations.failing.length === 0 ? html`<p>${t.overview.noneFailing}</p>` : ''}
    <ul class="plain">
      ${operations.failing.map(
        (one) =>
          html`<li>
            <a href="/painel/operacao/webhooks/${one.webhookId}">${urlOf(one.url)}</a> ${one.partner}
            ${t.operator.failures(one.failures)} ${outcomeBadge(t, one.lastOutcome, null)} ${moment(visit, one.lastAt)}
          </li>`,
      )}
    </ul>`;
}
