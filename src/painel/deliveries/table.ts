/** Deliveries as rows, each with its webhook's address where `urls` knows it. */
import { html } from 'hono/html';
import type { DeliveryResource } from '../../contract/resources/delivery-resource.ts';
import type { Html, Visit } from '../env.ts';
import { moment, shortId, shortUrl, standing, statusBadge, table } from '../frame/parts.ts';

export function deliveryTable(
  visit: Visit,
  items: readonly DeliveryResource[],
  urls: ReadonlyMap<string, string>,
): Html {
  const { deliveries: words } = visit.t;
  return table(
    words.table,
    [words.delivery, words.status, words.attempts, words.loan, words.webhook],
    items.map((item) => row(visit, item, urls.get(item.webhook_id))),
  );
}

function row(visit: Visit, item: DeliveryResource, url: string | undefined): Html {
  const { t } = visit;
  const loan = item.emprestimo_id;
  const next = item.proxima_tentativa_em;
  return html`<tr>
    <td>
      <a href="/painel/entregas/${item.id}"><code>${item.evento}</code></a>
      <div class="dim">${moment(visit, item.criada_em)} ${shortId(item.id)}</div>
    </td>
    <td>
      ${
        item.em_andamento
          ? html`${statusBadge(t, item.status)} <span class="dim">${t.deliveries.inFlight}</span>`
          : standing(t, item)
      }
    </td>
    <td>
      ${item.total_tentativas}
      ${next === null ? '' : html`<div class="dim">${t.deliveries.next}: ${moment(visit, next)}</div>`}
    </td>
    <td>
      ${loan === null ? html`<span class="dim">–</span>` : html`<a href="/painel/entregas?emprestimo_id=${loan}">${shortId(loan)}</a>`}
    </td>
    <td>
      <a href="/painel/webhooks/${item.webhook_id}" title="${item.webhook_id}"
        >${url === undefined ? shortId(item.webhook_id) : shortUrl(url)}</a
      >
    </td>
  </tr>`;
}
