/** The page's forms, their fields, and the acts that ask before they are done. */
import { html, raw } from 'hono/html';
import type { Html, Visit } from '../env.ts';

/** Of a field whose text is no prose. */
export const VERBATIM = raw('autocomplete="off" spellcheck="false"');

/** Leads to what an id names. */
export function idForm(action: string, label: string, sought: string, button: string, hint = ''): Html {
  return html`<form class="inline" method="get" action="${action}" role="search">
    <label for="id">${label}</label>
    <input id="id" name="id" value="${sought}" size="38" ${VERBATIM} required aria-describedby="id-hint" />
    <button>${button}</button> <span id="id-hint" class="dim">${hint}</span>
  </form>`;
}

/** A form that changes something, with what makes it this session's own. */
export function postForm({ session }: Pick<Visit, 'session'>, action: string, body: Html, kind = ''): Html {
  return html`<form class="${kind}" method="post" action="${action}">
    ${hidden('formulario', session.formToken)} ${body}
  </form>`;
}

export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

/** An act that asks before it is done, without a script; open where it was refused and is filled in. */
export function confirmed(
  visit: Visit,
  action: string,
  label: string,
  question: string,
  fields: Html | '' = '',
  isOpen = false,
): Html {
  return html`<details class="confirm" ${isOpen ? html`open` : ''}>
    <summary class="button">
      <span class="opens">${label}…</span><span class="closes">${visit.t.words.cancel}</span>
    </summary>
    ${postForm(
      visit,
      action,
      html`<p>${question}</p>
        ${fields} <button class="primary">${label}</button>`,
    )}
  </details>`;
}

/** The end of a form that can be left: its button, and the way back. */
export function doOrLeave({ t }: Visit, label: string, back: string): Html {
  return html`<p class="actions">
    <button class="primary">${label}</button>
    <a class="button" href="${back}">${t.words.cancel}</a>
  </p>`;
}

export function input(label: string, name: string, value: string | number, attributes: Html | '' = ''): Html {
  return html`<label>${label} <input name="${name}" value="${value}" ${attributes} /></label>`;
}

export function tick(label: string | Html, name: string, value: string, isTicked: boolean, type = 'checkbox'): Html {
  return html`<label
    ><input type="${type}" name="${name}" value="${value}" ${isTicked ? html`checked` : ''} /> ${label}</label
  >`;
}

/** The values of a select, each with its label. */
type Choices = readonly (readonly [value: string, label: string])[];

export function select(label: string, name: string, chosen: string, values: Choices, attributes: Html | '' = ''): Html {
  return html`<label
    >${label}
    <select name="${name}" ${attributes}>
      ${values.map(
        ([value, text]) => html`<option value="${value}" ${value === chosen ? html` selected` : ''}>${text}</option>`,
      )}
    </select></label
  >`;
}

/** Words as they are, behind an empty one that stands for "whatever". */
export function named(anyLabel: string, words: readonly string[]): Choices {
  return [['', anyLabel], ...words.map((word) => [word, word] as const)];
}

export function labelled<W extends string>(words: readonly W[], labels: Readonly<Record<W, string>>): Choices {
  return words.map((word) => [word, labels[word]] as const);
}
