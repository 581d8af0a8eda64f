/** The overview: how the partner's deliveries fare now, live. */
import type { Hono } from 'hono';
import { html } from 'hono/html';
import type { ListedWebhook } from '../../contract/resources/webhook.ts';
import { type Summary, WINDOW_NAMES, type WindowName, WINDOWS } from '../../contract/resources/summary.ts';
import type { Html, PainelEnv, Visit } from '../env.ts';
import { pathOf } from '../files.ts';
import type { Guard } from '../frame/guard.ts';
import { answerPage } from '../frame/page.ts';
import type { Streams } from '../live.ts';
import { table } from '../frame/parts.ts';
import { type Numbers, seriesOf } from './series.ts';
import { failingList, tiles } from './tiles.ts';

const READ = { reader: 'partner', scope: 'webhooks:read' } as const;
/** A long window is read anew less often: it costs more, and changes less. */
const EVERY_MS = 3_000;
const SLOWLY_MS = 15_000;

export function addOverviewPages(app: Hono<PainelEnv>, guard: Guard, streams: Streams): void {
  app.get(
    '/painel/visao',
    guard.show(READ, async (visit) => {
      const numbers = await readNumbers(visit);
      return answerPage(visit.c, { title: visit.t.overview.title, body: body(visit, numbers) });
    }),
  );
  app.get(
    '/painel/visao/ao-vivo',
    guard.show(READ, (visit) =>
      streams.open(visit, WINDOWS[windowOf(visit)].stepS <= 60 ? EVERY_MS : SLOWLY_MS, async () => {
        const numbers = await readNumbers(visit);
        return [
          { event: 'serie', data: JSON.stringify(seriesOf(numbers.summary)) },
          { event: 'numeros', data: String(await tiles(visit, numbers)) },
          { event: 'falhas', data: String(await failingList(visit, numbers)) },
        ];
      }),
    ),
  );
}

function windowOf({ c }: Visit): WindowName {
  const given = c.req.query('janela') ?? '';
  return WINDOW_NAMES.find((name) => name === given) ?? '1h';
}

async function readNumbers(visit: Visit): Promise<Numbers> {
  const [summary, webhooks] = await Promise.all([
    visit.api.read<Summary>('/v1/resumo', { janela: windowOf(visit) }),
    visit.api.read<ListedWebhook[]>('/v1/webhooks', { incluir: 'saude' }),
  ]);
  return { summary, failing: webhooks.filter(({ saude }) => (saude?.falhas_seguidas ?? 0) > 0) };
}

function body(visit: Visit, numbers: Numbers): Html {
  const { t } = visit;
  const chosen = windowOf(visit);
  const words = JSON.stringify({
    delivered: t.overview.delivered,
    failed: t.overview.failed,
    perMinute: t.overview.perMinute,
    time: t.overview.time,
  });
  return html`<form class="inline" method="get" action="/painel/visao">
      <label
        >${t.overview.window}
        <select name="janela">
          ${WINDOW_NAMES.map(
            (name) =>
              html`<option value="${name}" ${name === chosen ? html`selected` : ''}>
                ${t.overview.windows[name]}
              </option>`,
          )}
        </select></label
      >
      <button>${t.frame.apply}</button>
    </form>
    <div data-live="/painel/visao/ao-vivo?janela=${chosen}">
      <div data-part="numeros">${tiles(visit, numbers)}</div>
      <h2 id="chart-rate">${t.overview.rate}</h2>
      <div class="chart" role="img" aria-labelledby="chart-rate" data-chart="rate" data-words="${words}"></div>
      <h2 id="chart-delay">${t.overview.delay}</h2>
      <div class="chart" role="img" aria-labelledby="chart-delay" data-chart="delay" data-words="${words}"></div>
      <h2>${t.overview.failing}</h2>
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
  const time = new Intl.DateTimeFormat(c.var.language === 'pt' ? 'pt-BR' : 'en-GB', {
    timeZone: 'America/Sao_Paulo',
    dateStyle: 'short',
    timeStyle: 'short',
  });
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
    told.map(
      ([second, ...cells]) =>
        html`<tr>
          <td>${time.format(second * 1_000)}</td>
          ${cells.map((cell) => html`<td class="number">${cell ?? '–'}</td>`)}
        </tr>`,
    ),
  );
}
