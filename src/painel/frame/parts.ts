/** The parts that pages are made of, one of each kind. */
import { html } from 'hono/html';
import type { DeliveryResource } from '../../contract/resources/delivery-resource.ts';
import type { Outcome } from '../../contract/statuses.ts';
import type { Html, Visit } from '../env.ts';
import type { Texts } from '../language/choose.ts';
import { momentText } from './clock.ts';

/** Sentences with `code` between backticks. */
export function prose(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? code(part) : part))}`;
}

export function paragraphs(texts: string | readonly string[]): Html {
  return html`${[texts].flat().map((text) => html`<p>${prose(text)}</p>`)}`;
}

export const code = (text: string): Html => html`<code>${text}</code>`;
export const dim = (text: string | Html): Html => html`<span class="dim">${text}</span>`;

/** A moment, or a dash where there is none. */
export function moment({ c }: Pick<Visit, 'c'>, at: string | Date | null): Html {
  if (at === null) return dim('–');
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

type Tone = 'entregue' | 'erro' | 'pendente' | 'suspensa';

export function badge(text: string | number, tone?: Tone): Html {
  return html`<span class="badge${tone === undefined ? '' : ` badge-${tone}`}">${text}</span>`;
}

export const statusBadge = (t: Texts, status: DeliveryResource['status']): Html => badge(t.status[status], status);

export function outcomeBadge(t: Texts, outcome: Outcome | null, answer: number | null): Html {
  if (outcome === null) return dim('–');
  const text = `${t.outcome[outcome]}${answer === null ? '' : ` ${answer}`}`;
  return badge(text, outcome === 'entregue' ? 'entregue' : 'erro');
}

/** A delivery's status, and how its last attempt ended where that says more. */
export function standing(t: Texts, delivery: DeliveryResource): Html {
  const { status, ultimo_resultado: outcome, ultimo_status_http: answer } = delivery;
  const ended = outcomeBadge(t, outcome, answer);
  return status === outcome ? ended : html`${statusBadge(t, status)} ${ended}`;
}

type Column = string | { readonly number: string };
type Cell = string | number | Html;

interface TableKind {
  /** The last column's long texts wrap. */
  readonly wraps?: true;
  /** Said in place of a table without rows. */
  readonly empty?: string;
}

/** A table, whose rows are cards on a phone. */
export function table(
  label: string,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  { wraps, empty }: TableKind = {},
): Html {
  if (rows.length === 0 && empty !== undefined) return html`<p>${empty}</p>`;
  const names = columns.map((column) => (typeof column === 'string' ? column : column.number));
  const classes = columns.map((column) => (typeof column === 'string' ? '' : html` class="number"`));
  return html`<div class="scroll${wraps ? ' fields' : ''}" tabindex="0" role="region" aria-label="${label}">
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

/** A list without marks; of no items, `empty` says so. */
export function plainList(items: readonly Html[], empty = ''): Html | '' {
  if (items.length === 0) return empty && html`<p>${empty}</p>`;
  return html`<ul class="plain">
    ${items.map((item) => html`<li>${item}</li>`)}
  </ul>`;
}

/** To the next page of a list; nothing after the last. */
export function onward(href: string | null, label: string): Html | '' {
  return href === null ? '' : html`<p><a class="button" rel="next" href="${href}">${label}</a></p>`;
}

/** One entry of a list of facts. An `id` is set in its own type; what may `wrap` breaks anywhere; a `wide` one has its own row. */
export function fact(label: string, value: string | Html, kind?: 'id' | 'wrap' | 'wide'): Html {
  return html`<div class="${kind === 'wide' ? 'wide' : ''}">
    <dt>${label}</dt>
    <dd${kind === undefined ? '' : html` class="${kind}"`}>${value}</dd>
  </div>`;
}

/** A number among others, with its name. */
export function tile(label: string, value: string | number | Html, isBad = false): Html {
  return html`<div class="tile${isBad ? ' tile-bad' : ''}">
    <dt>${label}</dt>
    <dd>${value}</dd>
  </div>`;
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

/** Above a page: what was done, or why it was not done. */
export function notice(kind: 'done' | 'failed', text: string): Html {
  return html`<p class="notice notice-${kind}" role="${kind === 'done' ? 'status' : 'alert'}">${text}</p>`;
}

/** A part that htmx redraws every `seconds` from the page at `address`; `also` is the id of a second part, redrawn with it. */
export function live(id: string, address: string, seconds: number, body: Html, also?: string): Html {
  return html`<div
    id="${id}"
    hx-get="${address}"
    hx-trigger="every ${seconds}s"
    hx-select="#${id}"
    hx-swap="outerMorph"
    ${also === undefined ? '' : html`hx-select-oob="#${also}:outerMorph"`}
  >
    ${body}
  </div>`;
}

/** Pauses the live parts of the page, and resumes them. Hidden until the script runs. */
export function pauseButton({ words }: Texts): Html {
  return html`<button type="button" data-pause="${words.goOn}" hidden>${words.pause}</button>`;
}
