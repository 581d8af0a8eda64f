/** The form that makes or changes a webhook. */
import { randomUUIDv7 } from 'node:crypto';
import { html } from 'hono/html';
import { SUBSCRIBABLE_NAMES, EVENTS } from '../../contract/events.ts';
import type { Refusal } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { doOrLeave, hidden, postForm, tick } from '../frame/forms.ts';
import { type Page, wrongField } from '../frame/page.ts';

interface Wanted {
  readonly url: string;
  readonly eventos: readonly string[];
}

/** Of a new webhook, where the address names none. */
export function showForm(visit: Visit, wanted: Wanted, refusal?: Refusal): Page {
  const { t, id } = visit;
  const path = id === '' ? '/painel/webhooks' : `/painel/webhooks/${id}`;
  const fields = html`${hidden('chave', randomUUIDv7())} <label for="url">${t.webhooks.url}</label>
    <input
      id="url"
      name="url"
      type="url"
      required
      maxlength="2048"
      value="${wanted.url}"
      placeholder="https://"
      aria-describedby="url-hint"
      ${wrongField(refusal, 'url')}
    />
    <p id="url-hint" class="dim">${t.webhooks.urlHint}</p>
    ${eventBoxes(visit, wanted.eventos, wrongField(refusal, 'eventos') !== '')}
    ${doOrLeave(visit, id === '' ? t.webhooks.create : t.webhooks.save, path)}`;
  return {
    title: id === '' ? t.webhooks.create : t.webhooks.edit,
    refusal,
    body: postForm(visit, id === '' ? path : `${path}/editar`, fields, 'stack'),
  };
}

function eventBoxes({ c, t }: Visit, chosen: readonly string[], isWrong: boolean): Html {
  return html`<fieldset ${isWrong ? html`class="wrong"` : ''}>
    <legend>${t.frame.events}</legend>
    <ul class="boxes">
      ${SUBSCRIBABLE_NAMES.map(
        (name) =>
          html`<li>
            ${tick(html`<span><code>${name}</code><span class="dim"> ${EVENTS[name].meaning[c.var.language].summary}</span></span>`, 'eventos', name, chosen.includes(name))}
          </li>`,
      )}
    </ul>
  </fieldset>`;
}
