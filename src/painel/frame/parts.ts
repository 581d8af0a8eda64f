/** Small parts that several pages share. */
import { html } from 'hono/html';
import type { DeliveryResource } from '../../contract/resources/delivery-resource.ts';
import type { Outcome } from '../../contract/statuses.ts';
import type { Html, Visit } from '../env.ts';
import type { Texts } from '../language/choose.ts';
import { momentText } from './clock.ts';

/** A moment, or a dash where there is none. */
export function moment({ c }: Pick<Visit, 'c'>, at: string | Date | null): Html {
  if (at === null) return html`<span class="dim">–</span>`;
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}" title="${iso}">${momentText(c.var, iso)}</time>`;
}

/** The end of an id, which tells ids of one moment apart; the whole one is its title. */
export function shortId(id: string): Html {
  return html`<span class="id short" title="${id}">…${id.slice(-12)}</span>`;
}

/** A URL's host and path, cut to fit a list. */
export function shortUrl(url: string): string {
  const [text = ''] = url.replace(/^https?:\/\//, '').split('?', 1);
  return text.length > 36 ? `${text.slice(0, 35)}…` : text;
}

export function statusBadge(t: Texts, status: DeliveryResource['status']): Html {
  return html`<span class="badge badge-${status}">${t.status[status]}</span>`;
}

export function outcomeBadge(t: Texts, outcome: Outcome | null, code: number | null): Html {
  if (outcome === null) return html`<span class="dim">–</span>`;
  const tone = outcome === 'entregue' ? 'entregue' : 'erro';
  return html`<span class="badge badge-${tone}">${t.outcome[outcome]}${code === null ? '' : ` ${code}`}</span>`;
}

/** A delivery's status, and how its last attempt ended where that says more. */
export function standing(t: Texts, delivery: DeliveryResource): Html {
  const { status, ultimo_resultado: outcome, ultimo_status_http: code } = delivery;
  const ended = outcomeBadge(t, outcome, code);
  return status === outcome ? ended : html`${statusBadge(t, status)} ${ended}`;
}

type Column = string | { readonly number: string };
type Cell = string | number | Html;

/** A table, whose rows are cards on a phone; `fields` lets the last column's long texts wrap. */
export function table(
  label: string,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  kind?: 'fields',
): Html {
  const names = columns.map((column) => (typeof column === 'string' ? column : column.number));
  const classes = columns.map((column) => (typeof column === 'string' ? '' : html` class="number"`));
  return html`<div class="scroll${kind === 'fields' ? ' fields' : ''}" tabindex="0" role="region" aria-label="${label}">
    <table class="cards">
      <thead>
        <tr>
          ${names.map((name, at) => html`<th scope="col" ${classes[at] ?? ''}>${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell, at) => html`<td data-label="${names[at]}" ${classes[at] ?? ''}>${cell === '' ? '' : html`<div>${cell}</div>`}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Pages beside each other, in the header; the reader is at the one that is here. */
export function menu(
  label: string,
  pages: readonly { readonly path: string; readonly label: string; readonly isHere: boolean }[],
): Html {
  return html`<nav aria-label="${label}">
    <ul>
      ${pages.map(
        (page) =>
          html`<li><a href="${page.path}" ${page.isHere ? html` aria-current="page"` : ''}>${page.label}</a></li>`,
      )}
    </ul>
  </nav>`;
}

/** A list without marks; of no items, `empty` says so. */
export function plainList(items: readonly Html[], empty = ''): Html | '' {
  if (items.length === 0) return empty && html`<p>${empty}</p>`;
  return html`<ul class="plain">
    ${items.map((item) => html`<li>${item}</li>`)}
  </ul>`;
}

/** One entry of a list of facts. An `id` is set in its own type; what may `wrap` breaks anywhere; a `wide` one has its own row. */
export function fact(label: string, value: string | Html, kind?: 'id' | 'wrap' | 'wide'): Html {
  return html`<div class="${kind === 'wide' ? 'wide' : ''}">
    <dt>${label}</dt>
    <dd${kind === undefined ? '' : html` class="${kind}"`}>${value}</dd>
  </div>`;
}

/** To the loan itself for who may read loans, else to its deliveries. */
export function loanPath({ session }: Pick<Visit, 'session'>, id: string): string {
  return session.identity.scopes.has('emprestimos:read')
    ? `/painel/emprestimos/${id}`
    : `/painel/entregas?emprestimo_id=${id}`;
}

/** Text to be copied, in a box of its own; `id` is the element's. */
export function copyable(t: Texts, id: string, label: string, text: string): Html {
  return html`<div class="copyable">
    <pre id="${id}" tabindex="0" aria-label="${label}"><code>${text}</code></pre>
    <button type="button" class="small" data-copy="${id}" data-copied="${t.words.copied}" hidden>
      ${t.words.copy}
    </button>
  </div>`;
}

/** Stops what is live on the page, and lets it go on. A script shows it where something is. */
export function pauseButton({ words }: Texts): Html {
  return html`<button type="button" data-pause="${words.goOn}" hidden>${words.pause}</button>`;
}

/** To the next page of a list; nothing after the last. */
export function onward(href: string | null, label: string): Html | '' {
  return href === null ? '' : html`<p><a class="button" rel="next" href="${href}">${label}</a></p>`;
}

/** A number among others, with its name. */
export function tile(label: string, value: string | number | Html, isBad = false): Html {
  return html`<div class="tile${isBad ? ' tile-bad' : ''}">
    <dt>${label}</dt>
    <dd>${value}</dd>
  </div>`;
}

/** What the page before this one did, by its word in the address; nothing for another word. */
export function doneNotice({ c }: Pick<Visit, 'c'>, words: Readonly<Record<string, string>>): Html | '' {
  const said = new Map(Object.entries(words)).get(c.req.query('feito') ?? '');
  return said === undefined ? '' : notice('done', said);
}

/** What was done, or why it was not, above a page. */
export function notice(kind: 'done' | 'failed', text: string): Html {
  return html`<p class="notice notice-${kind}" role="${kind === 'done' ? 'status' : 'alert'}">${text}</p>`;
}
