/** The fields of the page's forms, and the acts that ask before they are done. */
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

/** What makes a form this session's own. */
export function formToken({ session }: Pick<Visit, 'session'>): Html {
  return html`<input type="hidden" name="formulario" value="${session.formToken}" />`;
}

/** An act that asks before it is done, without a script; open where it was refused and is filled in. */
export function confirmed(
  visit: Visit,
  action: string,
  texts: { label: string; question: string },
  fields: Html | '' = '',
  isOpen = false,
): Html {
  const { words } = visit.c.var.texts;
  return html`<details class="confirm" ${isOpen ? html`open` : ''}>
    <summary class="button">
      <span class="opens">${texts.label}…</span><span class="closes">${words.cancel}</span>
    </summary>
    <form method="post" action="${action}">
      ${formToken(visit)}
      <p>${texts.question}</p>
      ${fields}
      <button class="primary">${texts.label}</button>
    </form>
  </details>`;
}

export function input(label: string, name: string, value: string | number, attributes: Html | '' = ''): Html {
  return html`<label>${label} <input name="${name}" value="${value}" ${attributes} /></label>`;
}

export function tick(label: string | Html, name: string, value: string, isTicked: boolean): Html {
  return html`<label
    ><input type="checkbox" name="${name}" value="${value}" ${isTicked ? html`checked` : ''} /> ${label}</label
  >`;
}

export function select(label: string, name: string, values: Html, attributes: Html | '' = ''): Html {
  return html`<label
    >${label}
    <select name="${name}" ${attributes}>
      ${values}
    </select></label
  >`;
}

/** The options of a select; the first, empty one stands for "whatever". */
export function options(
  chosen: string,
  anyLabel: string,
  values: readonly (readonly [value: string, label: string])[],
): Html {
  return html`<option value="">${anyLabel}</option>
    ${choices(chosen, values)}`;
}

/** As {@link options}, of words that are shown as they are. */
export function named(chosen: string, anyLabel: string, words: readonly string[]): Html {
  return options(
    chosen,
    anyLabel,
    words.map((word) => [word, word]),
  );
}

export function labelled<W extends string>(words: readonly W[], labels: Readonly<Record<W, string>>) {
  return words.map((word) => [word, labels[word]] as const);
}

/** As {@link options}, one of which is chosen. */
export function choices(chosen: string, values: readonly (readonly [value: string, label: string])[]): Html {
  return html`${values.map(
    ([value, label]) => html`<option value="${value}" ${value === chosen ? html` selected` : ''}>${label}</option>`,
  )}`;
}
