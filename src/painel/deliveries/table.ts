/** Deliveries as rows, each with its webhook's address where `urls` knows it; without `urls` they are all of one webhook. */
import { html } from 'hono/html';
import type { DeliveryResource } from '../../contract/resources/delivery-resource.ts';
import type { Html, Visit } from '../env.ts';
import { moment, shortId, shortUrl, standing, statusBadge, table } from '../frame/parts.ts';

export function deliveryTable(
  visit: Visit,
  items: readonly DeliveryResource[],
  urls: ReadonlyMap<string, string> | null,
): Html {
  const { deliveries: words } = visit.t;
  const columns = [words.delivery, words.status, words.attempts, words.loan];
  return table(
    words.table,
    urls === null ? columns : [...columns, words.webhook],
    items.map((item) => [...cellsOf(visit, item), ...(urls === null ? [] : [webhookLink(item.webhook_id, urls)])]),
  );
}

function cellsOf(visit: Visit, item: DeliveryResource) {
  const { t } = visit;
  const { emprestimo_id: loan, proxima_tentativa_em: next } = item;
  const underWay = html`${statusBadge(t, item.status)} <span class="dim">${t.deliveries.inFlight}</span>`;
  return [
    html`<a href="/painel/entregas/${item.id}"><code>${item.evento}</code></a>
      ${item.teste ? html`<span class="badge">${t.delivery.test}</span>` : ''}
      <div class="dim">${moment(visit, item.criada_em)} ${shortId(item.id)}</div>`,
    item.em_andamento ? underWay : standing(t, item),
    html`${item.total_tentativas}
    ${next === null ? '' : html`<div class="dim">${t.deliveries.next}:<br />${moment(visit, next)}</div>`}`,
    loan === null ? '–' : html`<a href="/painel/entregas?emprestimo_id=${loan}">${shortId(loan)}</a>`,
  ];
}

function webhookLink(id: string, urls: ReadonlyMap<string, string>): Html {
  const url = urls.get(id);
  return html`<a class="wrap" href="/painel/webhooks/${id}" title="${id}"
    >${url === undefined ? shortId(id) : shortUrl(url)}</a
  >`;
}
