/** How the deliveries of one webhook or of all fare: tiles and charts, live. */
import { html } from 'hono/html';
import type { ListedWebhook } from '../../contract/resources/webhook.ts';
import { type Summary, WINDOW_NAMES, type WindowName, WINDOWS } from '../../contract/resources/summary.ts';
import type { Html, Visit } from '../env.ts';
import { pathOf } from '../files.ts';
import type { Streams } from '../live.ts';
import { momentText } from '../frame/clock.ts';
import { choices, select } from '../frame/forms.ts';
import type { Guard } from '../frame/guard.ts';
import { READ } from '../frame/nav.ts';
import { answerPage } from '../frame/page.ts';
import { moment, pauseButton, plainList, table, tile } from '../frame/parts.ts';
import { healthBadge } from '../webhooks/list.ts';
import { lossNotices } from '../webhooks/losses.ts';
import { nameOf } from '../webhooks/names.ts';

/** A long window is read anew less often: it costs more, and changes less. */
const EVERY_MS = 3_000;
const SLOWLY_MS = 15_000;

interface Numbers {
  readonly summary: Summary;
  /** The active ones; null of one webhook. */
  readonly webhooks: readonly ListedWebhook[] | null;
  /** Of them those whose newest attempts failed, or that are `falhando`. */
  readonly failing: readonly ListedWebhook[] | null;
}

function windowOf({ c }: Visit): WindowName {
  const given = c.req.query('janela') ?? '';
  return WINDOW_NAMES.find((name) => name === given) ?? '1h';
}

async function readNumbers(visit: Visit, webhookId: string): Promise<Numbers> {
  const [summary, webhooks] = await Promise.all([
    visit.api.read<Summary>('/v1/resumo', { janela: windowOf(visit), webhook_id: webhookId }),
    webhookId === '' ? visit.api.read<ListedWebhook[]>('/v1/webhooks', { incluir: 'saude' }) : null,
  ]);
  const failing = webhooks?.filter(({ saude }) => saude && (saude.falhas_seguidas > 0 || saude.estado === 'falhando'));
  return { summary, webhooks, failing: failing ?? null };
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

/** The stream that {@link pulsePart} listens to. */
export function openPulse(streams: Streams, visit: Visit, webhookId = ''): Response {
  return streams.open(visit, WINDOWS[windowOf(visit)].stepS <= 60 ? EVERY_MS : SLOWLY_MS, async () => {
    const numbers = await readNumbers(visit, webhookId);
    return [
      { event: 'serie', data: JSON.stringify(seriesOf(numbers.summary)) },
      { event: 'numeros', data: String(await tiles(visit, numbers)) },
      { event: 'erros', data: String(await losses(visit, numbers)) },
      { event: 'falhas', data: String(await failingList(visit, numbers)) },
    ];
  });
}

/** The numbers and charts of a webhook, or of all (''), on the page at `path`, whose stream is at its `/ao-vivo`. */
export async function pulsePart(visit: Visit, path: string, webhookId = ''): Promise<Html> {
  const { t } = visit;
  const numbers = await readNumbers(visit, webhookId);
  const chosen = windowOf(visit);
  const windows = WINDOW_NAMES.map((name) => [name, t.overview.windows[name] ?? name] as const);
  const words = JSON.stringify({
    delivered: t.overview.delivered,
    failed: t.overview.failed,
    perMinute: t.overview.perMinute,
    time: t.overview.time,
    zone: visit.c.var.zone,
  });
  return html`<form class="inline" method="get" action="${path}">
      ${select(t.overview.window, 'janela', choices(chosen, windows), html`data-submits`)}
      <noscript><button>${t.frame.apply}</button></noscript>
      ${pauseButton(t)}
    </form>
    <div data-live="${path}/ao-vivo?janela=${chosen}">
      <div data-part="erros">${losses(visit, numbers)}</div>
      <div data-part="numeros">${tiles(visit, numbers)}</div>
      <h2 id="chart-rate">${t.overview.rate}</h2>
      <div class="chart" role="img" aria-labelledby="chart-rate" data-chart="rate" data-words="${words}"></div>
      <h2 id="chart-delay">${t.overview.delay}</h2>
      <div class="chart" role="img" aria-labelledby="chart-delay" data-chart="delay" data-words="${words}"></div>
      ${numbers.failing && html`<h2>${t.overview.failing}</h2>`}
      <div data-part="falhas">${failingList(visit, numbers)}</div>
      <details class="card">
        <summary>${t.overview.asTable}</summary>
        ${numbersTable(visit, numbers)}
      </details>
    </div>
    <link rel="stylesheet" href="${pathOf('uplot.css')}" />
    <script src="${pathOf('uplot.js')}" defer></script>
    <script src="${pathOf('charts.js')}" defer></script>`;
}

/** The charts' numbers as they were when the page was opened. */
function numbersTable({ t, c }: Visit, { summary }: Numbers): Html {
  const { at, delivered, failed, p50, p99 } = seriesOf(summary);
  const rows = at.map((second, index) => [second, delivered[index], failed[index], p50[index], p99[index]] as const);
  const told = rows.filter(([, one = 0, other = 0]) => one + other > 0).toReversed();
  return table(
    t.overview.asTable,
    [
      t.overview.time,
      { number: t.overview.delivered },
      { number: t.overview.failed },
      { number: 'p50 ms' },
      { number: 'p99 ms' },
    ],
    told.map(([second, one = 0, other = 0, ...delays]) => {
      const [half, most] = delays.map((ms) => ms ?? '–');
      return [momentText(c.var, new Date(second * 1_000)), one, other, half ?? '–', most ?? '–'];
    }),
  );
}

function tiles(visit: Visit, { summary, failing }: Numbers): Html {
  const { t } = visit;
  const { entregues, falhas, p50_ms, p99_ms, mostra_desde, espera } = summary;
  const more = espera.ha_mais ? '+' : '';
  const ms = (value: number | null) => (value === null ? '–' : t.words.ms(value));
  return html`<dl class="tiles">
      ${tile(t.overview.delivered, String(entregues))} ${tile(t.overview.failedAttempts, String(falhas), falhas > 0)}
      ${tile(t.overview.arrival('p50'), ms(p50_ms))} ${tile(t.overview.arrival('p99'), ms(p99_ms))}
      ${tile(t.overview.pending, `${espera.pendentes}${more}`)} ${tile(t.overview.due, `${espera.vencidas}${more}`)}
      ${tile(t.overview.oldestDue, moment(visit, espera.vencida_desde))}
      ${failing && tile(t.overview.failing, String(failing.length), failing.length > 0)}
    </dl>
    ${mostra_desde === null ? '' : html`<p class="dim">${t.overview.cut} ${moment(visit, mostra_desde)}</p>`}`;
}

function losses(visit: Visit, { webhooks }: Numbers): Html | '' {
  const losing = webhooks?.flatMap((one) => (one.saude ? [{ name: nameOf(one), health: one.saude }] : [])) ?? [];
  return lossNotices(visit, losing);
}

function failingList({ t }: Visit, { failing }: Numbers): Html | '' {
  if (failing === null) return '';
  const items = failing.map(
    (one) =>
      html`<a class="wrap" href="/painel/webhooks/${one.id}">${nameOf(one)}</a>
        ${one.saude && healthBadge(t, one.saude)}`,
  );
  return plainList(items, t.overview.noneFailing);
}

const PATH = '/painel/visao';

export function addOverviewPages(guard: Guard, streams: Streams): void {
  guard.show(PATH, READ, async (visit) =>
    answerPage(visit.c, { title: visit.t.frame.overview, body: await pulsePart(visit, PATH) }),
  );
  guard.show(`${PATH}/ao-vivo`, READ, (visit) => openPulse(streams, visit));
}
