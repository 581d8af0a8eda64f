/** How the deliveries of one webhook or of all fare: tiles and charts, live. */
import { html } from 'hono/html';
import type { ListedWebhook } from '../../contract/resources/webhook.ts';
import { type Summary, WINDOW_NAMES, WINDOWS } from '../../contract/resources/summary.ts';
import { addressOf } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { pathOf } from '../files.ts';
import { momentText } from '../frame/clock.ts';
import { select } from '../frame/forms.ts';
import type { Guard } from '../frame/guard.ts';
import { READ } from '../frame/nav.ts';
import { dim, live, moment, pauseButton, plainList, table, tile } from '../frame/parts.ts';
import { healthBadge, lossNotices, nameOf } from '../webhooks/list.ts';

const PATH = '/painel/visao';
/** A long window is reloaded less often: it costs more, and changes less. */
const EVERY_S = 3;
const SLOWLY_S = 15;

export function addOverviewPages(guard: Guard): void {
  guard.show(PATH, READ, async (visit) => ({
    title: visit.t.frame.overview,
    body: await pulsePart(visit, PATH, visit.query('webhook').webhook),
  }));
}

/** One value for each step of the window, oldest first: seconds since 1970, attempts a minute, milliseconds. */
export function seriesOf({ passos, passo_segundos }: Pick<Summary, 'passos' | 'passo_segundos'>) {
  const perMinute = (count: number) => Math.round((count / passo_segundos) * 60 * 100) / 100;
  return {
    at: passos.map(({ inicio }) => Date.parse(inicio) / 1_000),
    delivered: passos.map(({ entregues }) => perMinute(entregues)),
    failed: passos.map(({ falhas }) => perMinute(falhas)),
    p50: passos.map(({ p50_ms }) => p50_ms),
    p99: passos.map(({ p99_ms }) => p99_ms),
  };
}

/** The numbers and charts of a webhook, or of all (''), on the page at `path`; the overview has them again for what is live. */
export async function pulsePart(visit: Visit, path: string, webhookId: string): Promise<Html> {
  const { t } = visit;
  const { janela } = visit.query('janela');
  const chosen = WINDOW_NAMES.find((name) => name === janela) ?? '1h';
  const [summary, webhooks] = await Promise.all([
    visit.api.read<Summary>('/v1/resumo', { janela: chosen, webhook_id: webhookId }),
    webhookId === '' ? visit.api.read<ListedWebhook[]>('/v1/webhooks', { incluir: 'saude' }) : null,
  ]);
  const failing = webhooks?.filter(({ saude }) => saude && (saude.falhas_seguidas > 0 || saude.estado === 'falhando'));
  const windows = WINDOW_NAMES.map((name) => [name, t.overview.windows[name] ?? name] as const);
  const body = html`${webhooks && lossNotices(visit, webhooks)} ${tiles(visit, summary, failing?.length)}
    <h2 id="chart-rate">${t.overview.rate}</h2>
    ${chart(visit, 'rate', summary)}
    <h2 id="chart-delay">${t.overview.delay}</h2>
    ${chart(visit, 'delay', summary)} ${failing && failingList(visit, failing)}`;
  const every = WINDOWS[chosen].stepS <= 60 ? EVERY_S : SLOWLY_S;
  return html`<form class="inline" method="get" action="${path}">
      ${select(t.overview.window, 'janela', chosen, windows, html`data-submits`)}
      <noscript><button>${t.frame.apply}</button></noscript>
      ${pauseButton(t)}
    </form>
    ${live('pulso', addressOf(PATH, { janela: chosen, webhook: webhookId }), every, body)}
    <details class="card">
      <summary>${t.overview.asTable}</summary>
      ${numbersTable(visit, summary)}
    </details>
    <link rel="stylesheet" href="${pathOf('uplot.css')}" />
    <script src="${pathOf('uplot.js')}" defer></script>
    <script src="${pathOf('charts.js')}" defer></script>`;
}

/** A script draws it, and again when the numbers change. */
function chart({ t, c }: Visit, kind: 'rate' | 'delay', summary: Summary): Html {
  const { delivered, failed, perMinute, time } = t.overview;
  const words = JSON.stringify({ delivered, failed, perMinute, time, zone: c.var.zone });
  return html`<div
    class="chart"
    role="img"
    aria-labelledby="chart-${kind}"
    data-chart="${kind}"
    data-words="${words}"
    data-series="${JSON.stringify(seriesOf(summary))}"
    hx-morph-skip-children
  ></div>`;
}

/** The charts' numbers as they were when the page was opened. */
function numbersTable({ t, c }: Visit, summary: Summary): Html {
  const { asTable, time, delivered, failed } = t.overview;
  const series = seriesOf(summary);
  const rows = series.at.flatMap((second, at) => {
    const [good = 0, bad = 0] = [series.delivered[at], series.failed[at]];
    const reported = [
      momentText(c.var, new Date(second * 1_000)),
      good,
      bad,
      series.p50[at] ?? '–',
      series.p99[at] ?? '–',
    ];
    return good + bad > 0 ? [reported] : [];
  });
  const columns = [time, ...[delivered, failed, 'p50 ms', 'p99 ms'].map((number) => ({ number }))];
  return table(asTable, columns, rows.toReversed());
}

function tiles(visit: Visit, summary: Summary, failing: number | undefined): Html {
  const { t } = visit;
  const { entregues, falhas, p50_ms, p99_ms, mostra_desde, espera } = summary;
  const more = espera.ha_mais ? '+' : '';
  const ms = (value: number | null) => (value === null ? '–' : t.words.ms(value));
  return html`<dl class="tiles">
      ${tile(t.overview.delivered, entregues)} ${tile(t.overview.failedAttempts, falhas, falhas > 0)}
      ${tile(t.overview.arrival('p50'), ms(p50_ms))} ${tile(t.overview.arrival('p99'), ms(p99_ms))}
      ${tile(t.overview.pending, `${espera.pendentes}${more}`)} ${tile(t.overview.due, `${espera.vencidas}${more}`)}
      ${tile(t.overview.oldestDue, moment(visit, espera.vencida_desde))}
      ${failing !== undefined && tile(t.overview.failing, failing, failing > 0)}
    </dl>
    ${mostra_desde === null ? '' : dim(html`${t.overview.cut} ${moment(visit, mostra_desde)}`)}`;
}

/** Those whose newest attempts failed, or that are `falhando`. */
function failingList({ t }: Visit, failing: readonly ListedWebhook[]): Html {
  const items = failing.map(
    (one) =>
      html`<a class="wrap" href="/painel/webhooks/${one.id}">${nameOf(one)}</a>
        ${one.saude && healthBadge(t, one.saude)}`,
  );
  return html`<h2>${t.overview.failing}</h2>
    ${plainList(items, t.overview.noneFailing)}`;
}
