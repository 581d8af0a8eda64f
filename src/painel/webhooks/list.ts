/** The partner's webhooks, each with how it fares. */
import { html } from 'hono/html';
import type { WebhookResource } from '../../contract/resources/webhook.ts';
import { readHealth, SAMPLE, type WebhookHealth } from '../../delivery/partner/health.ts';
import type { Html, PainelDeps, Visit } from '../env.ts';
import { answerPage } from '../frame/page.ts';
import { moment, shortId, shortUrl } from '../frame/parts.ts';
import type { Texts } from '../language/choose.ts';

/** The newest so many are shown; the deactivated ones among a partner's may be more. */
const SHOWN = '200';

export async function showWebhooks(visit: Visit, { pool }: PainelDeps): Promise<Response> {
  const { c, t, api, session } = visit;
  const which = c.req.query('ativo') === 'todos' ? 'todos' : 'true';
  const webhooks = await api.read<WebhookResource[]>('/v1/webhooks', { ativo: which, limite: SHOWN });
  const ids = webhooks.map(({ id }) => id);
  const health = new Map((await readHealth(pool, ids)).map((one) => [one.webhookId, one]));
  return answerPage(c, {
    title: t.webhooks.title,
    body: html`<div class="actions">
        ${
          session.identity.scopes.has('webhooks:write')
            ? html`<a class="button primary" href="/painel/webhooks/novo">${t.webhooks.create}</a>`
            : ''
        }
        ${
          which === 'todos'
            ? html`<a class="button" href="/painel/webhooks">${t.webhooks.onlyActive}</a>`
            : html`<a class="button" href="/painel/webhooks?ativo=todos">${t.webhooks.inactiveToo}</a>`
        }
      </div>
      ${webhooks.length === 0 ? html`<p>${t.webhooks.empty}</p>` : table(visit, webhooks, health)}
      <p class="dim">${t.webhooks.sampled(SAMPLE)}</p>`,
  });
}

function table(visit: Visit, webhooks: readonly WebhookResource[], health: ReadonlyMap<string, WebhookHealth>): Html {
  const { t } = visit;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${t.webhooks.title}">
    <table>
      <caption class="hidden">
        ${t.webhooks.title}
      </caption>
      <thead>
        <tr>
          <th scope="col">${t.webhooks.url}</th>
          <th scope="col">${t.webhooks.health}</th>
          <th scope="col" class="number">${t.webhooks.delivered}</th>
          <th scope="col" class="number">p50 / p95</th>
          <th scope="col">${t.webhooks.oldestDue}</th>
          <th scope="col" class="number">${t.webhooks.events}</th>
        </tr>
      </thead>
      <tbody>
        ${webhooks.map((webhook) => row(visit, webhook, health.get(webhook.id)))}
      </tbody>
    </table>
  </div>`;
}

function row(visit: Visit, webhook: WebhookResource, health: WebhookHealth | undefined): Html {
  return html`<tr>
    <td>
      <a href="/painel/webhooks/${webhook.id}">${shortUrl(webhook.url)}</a>
      <div class="dim">${shortId(webhook.id)}</div>
    </td>
    <td>${healthBadge(visit.t, webhook, health)}</td>
    <td class="number">${health === undefined ? '–' : `${health.delivered} / ${health.looked}`}</td>
    <td class="number">${speed(visit.t, health)}</td>
    <td>${moment(visit, health?.oldestDueAt ?? null)}</td>
    <td class="number">${webhook.eventos.length}</td>
  </tr>`;
}

export function speed(t: Texts, health: WebhookHealth | undefined): string {
  if (health === undefined || health.p50Ms === null || health.p95Ms === null) return '–';
  return `${t.words.ms(health.p50Ms)} / ${t.words.ms(health.p95Ms)}`;
}

/** In a word: switched off, idle, well, or failing for so many in a row. */
export function healthBadge(t: Texts, { ativo }: WebhookResource, health: WebhookHealth | undefined): Html {
  if (!ativo) return html`<span class="badge">${t.webhooks.inactive}</span>`;
  if (health === undefined || health.looked === 0) return html`<span class="badge">${t.webhooks.idle}</span>`;
  if (health.failedInRow > 0) {
    return html`<span class="badge badge-erro">${t.webhooks.failing(health.failedInRow)}</span>`;
  }
  if (health.failed > 0) return html`<span class="badge badge-pendente">${t.webhooks.someFailed(health.failed)}</span>`;
  return html`<span class="badge badge-entregue">${t.webhooks.well}</span>`;
}
