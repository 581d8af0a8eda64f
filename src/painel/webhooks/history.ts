/** What changed of a webhook, when and by whom; the newest first. */
import { html } from 'hono/html';
import type { WebhookHistory } from '../../contract/resources/webhook.ts';
import type { Html, Visit } from '../env.ts';
import { moment, table } from '../frame/parts.ts';

type Line = WebhookHistory['itens'][number];

export function historyPart(visit: Visit, id: string, { itens, proximo_cursor }: WebhookHistory): Html {
  const { operator: words } = visit.t;
  const rows = itens.map((line, index) => [
    moment(visit, line.mudou_em),
    html`<code>${line.mudanca}</code>`,
    line.autor,
    difference(line, itens[index + 1]),
  ]);
  const older = html`<p><a href="/painel/webhooks/${id}?antes=${proximo_cursor}#historico">${words.older}</a></p>`;
  return html`<section aria-labelledby="historico">
    <h2 id="historico">${words.history}</h2>
    ${table(words.history, [visit.t.loans.at, words.change, words.author, ''], rows, 'fields')}
    ${proximo_cursor === null ? '' : older}
  </section>`;
}

/** What a change made other than it was; `before` is the line below, if it is known. */
function difference({ url, eventos }: Line, before: Line | undefined): Html | '' {
  if (before === undefined) return '';
  const added = eventos.filter((name) => !before.eventos.includes(name)).map((name) => `+${name}`);
  const removed = before.eventos.filter((name) => !eventos.includes(name)).map((name) => `−${name}`);
  return html`${url === before.url ? '' : html`<code class="wrap">${before.url} → ${url}</code> `}
  ${[...added, ...removed].map((text) => html`<code>${text}</code> `)}`;
}
