/** The numbers above the overview's charts, and the webhooks that fail. */
import { html } from 'hono/html';
import type { Html, Visit } from '../env.ts';
import { moment, shortUrl } from '../frame/parts.ts';
import { healthBadge } from '../webhooks/list.ts';
import { failures, type Numbers } from './series.ts';

export function tiles(visit: Visit, { pulse, waiting, health }: Numbers): Html {
  const { t } = visit;
  const delivered = pulse.steps.reduce((sum, { outcomes }) => sum + (outcomes.entregue ?? 0), 0);
  const failed = pulse.steps.reduce((sum, step) => sum + failures(step), 0);
  const failing = health.filter(({ failedInRow }) => failedInRow > 0).length;
  const more = waiting.hasMore ? '+' : '';
  const ms = (value: number | null) => (value === null ? '–' : t.words.ms(Math.round(value)));
  return html`<dl class="tiles">
      ${tile(t.overview.delivered, String(delivered))} ${tile(t.overview.failedAttempts, String(failed), failed > 0)}
      ${tile('p50', ms(pulse.p50Ms))} ${tile('p99', ms(pulse.p99Ms))}
      ${tile(t.overview.pending, `${waiting.pending}${more}`)} ${tile(t.overview.due, `${waiting.due}${more}`)}
      ${tile(t.overview.oldestDue, moment(visit, waiting.oldestDueAt))}
      ${tile(t.overview.failing, String(failing), failing > 0)}
    </dl>
    ${pulse.cutAt === null ? '' : html`<p class="dim">${t.overview.cut} ${moment(visit, pulse.cutAt)}</p>`}`;
}

function tile(label: string, value: string | Html, isBad = false): Html {
  return html`<div class="tile${isBad ? ' tile-bad' : ''}">
    <dt>${label}</dt>
    <dd>${value}</dd>
  </div>`;
}

export function failingList({ t }: Visit, { health, webhooks }: Numbers): Html {
  const failing = health.filter(({ failedInRow }) => failedInRow > 0);
  if (failing.length === 0) return html`<p>${t.overview.noneFailing}</p>`;
  return html`<ul class="plain">
    ${failing.map((one) => {
      const webhook = webhooks.find(({ id }) => id === one.webhookId);
      if (webhook === undefined) return '';
      return html`<li>
        <a href="/painel/webhooks/${webhook.id}">${shortUrl(webhook.url)}</a> ${healthBadge(t, webhook, one)}
      </li>`;
    })}
  </ul>`;
}
