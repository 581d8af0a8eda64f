/** The partner's webhooks, each with how it fares. */
import { html } from 'hono/html';
import type { ListedWebhook } from '../../contract/resources/webhook.ts';
import type { HealthPeriod, WebhookHealthResource } from '../../contract/resources/webhook-health.ts';
import type { Html, Visit } from '../env.ts';
import { answerPage } from '../frame/page.ts';
import { moment, shortId, shortUrl, table } from '../frame/parts.ts';
import type { Texts } from '../language/choose.ts';
import { lossNotices } from './losses.ts';
import { nameOf } from './names.ts';

/** The most that are shown; a partner may have more deactivated ones. */
const SHOWN = '200';

export async function showWebhooks(visit: Visit): Promise<Response> {
  const { c, t, api, session } = visit;
  const which = c.req.query('ativo') === 'todos' ? 'todos' : 'true';
  const asked = { ativo: which, limite: SHOWN, incluir: 'saude' };
  const webhooks = await api.read<ListedWebhook[]>('/v1/webhooks', asked);
  return answerPage(c, {
    title: t.frame.webhooks,
    body: html`${lossNotices(
        visit,
        webhooks.flatMap((one) => (one.saude ? [{ name: nameOf(one), health: one.saude }] : [])),
      )}
      <div class="actions">
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
        <a class="button" href="/painel/avisos">${t.alerts.title}</a>
      </div>
      ${webhooks.length === 0 ? html`<p>${t.webhooks.empty}</p>` : webhookTable(visit, webhooks)}
      <p class="dim">${t.webhooks.ofDay}</p>`,
  });
}

function webhookTable(visit: Visit, webhooks: readonly ListedWebhook[]): Html {
  const { t } = visit;
  const { webhooks: words, frame, overview } = t;
  const delivered = { number: overview.delivered };
  return table(
    frame.webhooks,
    [words.url, words.health, delivered, { number: 'p50 / p95' }, words.oldestPending, { number: frame.events }],
    webhooks.map((webhook) => row(visit, webhook)),
  );
}

function row(visit: Visit, { id, url, eventos, saude }: ListedWebhook) {
  return [
    html`<a class="wrap" href="/painel/webhooks/${id}">${saude?.rotulo ?? shortUrl(url)}</a>
      <div class="dim">${saude?.rotulo ? html`<span class="wrap">${shortUrl(url)}</span>` : shortId(id)}</div>`,
    saude ? healthBadge(visit.t, saude) : '',
    saude ? deliveredOf(saude) : '',
    saude ? speed(visit.t, saude) : '',
    moment(visit, saude?.pendente_mais_antiga?.criada_em ?? null),
    eventos.length,
  ];
}

/** Attempts that delivered, of all, in the last 24 hours. */
function deliveredOf({ ultimas_24h: day }: WebhookHealthResource): string {
  return `${day.entregues} / ${day.entregues + failedIn(day)}`;
}

function failedIn({ falhas }: HealthPeriod): number {
  return Object.values(falhas).reduce((sum, count) => sum + count, 0);
}

function speed(t: Texts, { ultimas_24h: { p50_ms, p95_ms } }: WebhookHealthResource): string {
  return p50_ms === null || p95_ms === null ? '–' : `${t.words.ms(p50_ms)} / ${t.words.ms(p95_ms)}`;
}

/** In a word: switched off, muted, suspended, idle, well, or with failures; `falhando` is the API's state. */
export function healthBadge(t: Texts, health: WebhookHealthResource): Html {
  const { estado, falhas_seguidas: inRow, ultima_entregue_em: lastDelivered, ultimas_24h: day } = health;
  const { em_erro: lost, respostas_estranhas: strange, sem_consentimento: waits } = health;
  if (estado === 'inativa' || estado === 'suspensa' || estado === 'silenciada') {
    return html`<span class="badge">${t.webhooks.stopped[estado]}</span>`;
  }
  return html`${standingBadge(t, estado === 'falhando', inRow, failedIn(day), lastDelivered === null)}
  ${lost === 0 ? '' : html`<span class="badge badge-erro">${t.webhooks.inError(lost)}</span>`}
  ${(waits?.recusas ?? 0) === 0 ? '' : html`<span class="badge badge-pendente">${t.webhooks.noConsent}</span>`}
  ${strange === 0 ? '' : html`<span class="badge badge-pendente">${t.webhooks.strange(strange)}</span>`}`;
}

function standingBadge(t: Texts, isFailing: boolean, inRow: number, failed: number, isIdle: boolean): Html {
  if (isFailing) return html`<span class="badge badge-erro">${t.webhooks.isFailing}</span>`;
  if (inRow > 0) return html`<span class="badge badge-erro">${t.webhooks.failing(inRow)}</span>`;
  if (failed > 0) return html`<span class="badge badge-pendente">${t.webhooks.someFailed(failed)}</span>`;
  if (isIdle) return html`<span class="badge">${t.webhooks.idle}</span>`;
  return html`<span class="badge badge-entregue">${t.webhooks.well}</span>`;
}
