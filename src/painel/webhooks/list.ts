/** The partner's webhooks: their names, health and failed deliveries. */
import { html } from 'hono/html';
import type { ListedWebhook } from '../../contract/resources/webhook.ts';
import {
  type HealthPeriod,
  LOST_COUNTED,
  type WebhookHealthResource,
} from '../../contract/resources/webhook-health.ts';
import { adviceOf } from '../../webhooks/advice.ts';
import type { Html, Visit } from '../env.ts';
import { isAllowed, READ } from '../frame/nav.ts';
import type { Page } from '../frame/page.ts';
import { badge, moment, shortId, shortUrl, table } from '../frame/parts.ts';
import type { Texts } from '../language/choose.ts';

/** The most that are read; a partner may have more deactivated ones. Of others a page shows the end of the id. */
const MOST = '200';

/** What a partner knows a webhook by: its label, else host and path. */
export function nameOf({ url, saude }: Pick<ListedWebhook, 'url' | 'saude'>): string {
  return saude?.rotulo ?? shortUrl(url);
}

/** The active ones, and where asked the deactivated ones behind them: the API's list of both may end before the active ones. */
async function readWebhooks({ api }: Visit, isWhole: boolean): Promise<ListedWebhook[]> {
  const pages = ['true', ...(isWhole ? ['false'] : [])].map((ativo) =>
    api.read<ListedWebhook[]>('/v1/webhooks', { ativo, limite: MOST, incluir: 'saude' }),
  );
  return (await Promise.all(pages)).flat();
}

/** The names by id, of those that are inactive too. */
export async function readNames(visit: Visit): Promise<ReadonlyMap<string, string>> {
  if (!isAllowed(visit.session.identity, READ)) return new Map();
  return new Map((await readWebhooks(visit, true)).map((webhook) => [webhook.id, nameOf(webhook)]));
}

export async function showWebhooks(visit: Visit): Promise<Page> {
  const { t, mayWrite } = visit;
  const { webhooks: words, frame, overview } = t;
  const isWhole = visit.query('ativo').ativo === 'todos';
  const webhooks = await readWebhooks(visit, isWhole);
  const link = (path: string, label: string, kind = '') => html`<a class="button${kind}" href="${path}">${label}</a>`;
  return {
    title: frame.webhooks,
    body: html`${lossNotices(visit, webhooks)}
      <div class="actions">
        ${mayWrite && link('/painel/webhooks/novo', words.create, ' primary')}
        ${isWhole ? link('/painel/webhooks', words.onlyActive) : link('/painel/webhooks?ativo=todos', words.inactiveToo)}
        ${link('/painel/avisos', t.alerts.title)}
      </div>
      ${table(
        frame.webhooks,
        [
          words.url,
          words.health,
          { number: overview.delivered },
          { number: 'p50 / p95' },
          words.oldestPending,
          { number: frame.events },
        ],
        webhooks.map((webhook) => row(visit, webhook)),
        { empty: words.empty },
      )}
      <p class="dim">${words.ofDay}</p>`,
  };
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
export function healthBadge({ webhooks: words }: Texts, health: WebhookHealthResource): Html {
  const { estado, em_erro: lost, respostas_estranhas: strange, sem_consentimento: waits } = health;
  if (estado === 'inativa' || estado === 'suspensa' || estado === 'silenciada') return badge(words.stopped[estado]);
  return html`${standingBadge(words, health)} ${lost > 0 ? badge(words.inError(lost), 'erro') : ''}
  ${(waits?.recusas ?? 0) > 0 ? badge(words.noConsent, 'pendente') : ''}
  ${strange > 0 ? badge(words.strange(strange), 'pendente') : ''}`;
}

function standingBadge(words: Texts['webhooks'], health: WebhookHealthResource): Html {
  const { estado, falhas_seguidas: inRow, ultima_entregue_em: lastDelivered } = health;
  const failed = failedIn(health.ultimas_24h);
  if (estado === 'falhando') return badge(words.isFailing, 'erro');
  if (inRow > 0) return badge(words.failing(inRow), 'erro');
  if (failed > 0) return badge(words.someFailed(failed), 'pendente');
  return lastDelivered === null ? badge(words.idle) : badge(words.well, 'entregue');
}

/** Of the webhooks with deliveries in `erro`, the one that lost last first: what is lost, why, and what to do. */
export function lossNotices(visit: Visit, webhooks: readonly ListedWebhook[]): Html {
  const lost = webhooks
    .flatMap(({ url, saude }) => (saude && saude.em_erro > 0 ? [{ name: nameOf({ url, saude }), health: saude }] : []))
    .toSorted((one, other) => (lastOf(one.health) < lastOf(other.health) ? 1 : -1));
  return html`${lost.map(({ name, health }) => lossNotice(visit, health, name))}`;
}

const lastOf = ({ ultimo_erro }: WebhookHealthResource) => ultimo_erro?.terminou_em ?? '';

/** Without a name on the webhook's own page. */
export function lossNotice(visit: Visit, health: WebhookHealthResource, name?: string): Html | '' {
  const { t, c, mayWrite } = visit;
  const { webhook_id: id, em_erro: count, primeira_em_erro: first, ultimo_erro: last } = health;
  if (count === 0) return '';
  const since = encodeURIComponent(first?.criada_em ?? '');
  const recovery = html`<a class="button small" href="/painel/webhooks/${id}/recuperar?desde=${since}"
    >${t.recovery.open}</a
  >`;
  const advice = last === null || last.resultado === 'entregue' ? null : adviceOf(last.resultado, last.status_http);
  return html`<div class="notice notice-failed">
    <p>
      ${name === undefined ? '' : html`<a class="wrap" href="/painel/webhooks/${id}">${name}</a>: `}
      <strong>${t.losses.inError(count > LOST_COUNTED ? `${LOST_COUNTED}+` : String(count))}</strong>
      ${mayWrite && recovery}
    </p>
    ${
      advice === null || last === null
        ? ''
        : html`<p>
            ${t.losses.last} <a href="/painel/entregas/${last.id}">${moment(visit, last.terminou_em)}</a>:
            ${advice.cause[c.var.language]}. ${advice.next[c.var.language]}
          </p>`
    }
  </div>`;
}
