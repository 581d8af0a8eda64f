/** The numbers above the overview's charts, and the webhooks that fail. */
import { html } from 'hono/html';
import type { Html, Visit } from '../env.ts';
import { moment, plainList, shortUrl, tile } from '../frame/parts.ts';
import { healthBadge } from '../webhooks/list.ts';
import type { Numbers } from './series.ts';

export function tiles(visit: Visit, { summary, failing }: Numbers): Html {
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

export function failingList({ t }: Visit, { failing }: Numbers): Html | '' {
  if (failing === null) return '';
  const items = failing.map(
    ({ id, url, saude }) =>
      html`<a href="/painel/webhooks/${id}">${shortUrl(url)}</a> ${saude && healthBadge(t, saude)}`,
  );
  return plainList(items, t.overview.noneFailing);
}
