/** The form that makes or changes a webhook. */
import { randomUUIDv7 } from 'node:crypto';
import { html } from 'hono/html';
import { SUBSCRIBABLE_NAMES, EVENTS } from '../../contract/events.ts';
import type { Refusal } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { answerPage } from '../frame/page.ts';
import { formToken, tick } from '../frame/forms.ts';
import { refusalList, wrongField } from '../frame/refusals.ts';

interface Form {
  /** Absent: a new webhook. */
  readonly id?: string;
  readonly wanted?: { readonly url: string; readonly eventos: readonly string[] };
  readonly refusal?: Refusal;
}

export async function showForm(visit: Visit, { id, wanted, refusal }: Form): Promise<Response> {
  const { c, t } = visit;
  return answerPage(c, {
    title: id === undefined ? t.webhooks.create : t.webhooks.edit,
    status: refusal?.status ?? 200,
    body: html`${refusal === undefined ? '' : refusalList(c, refusal.error)}
      <form
        class="stack"
        method="post"
        action="${id === undefined ? '/painel/webhooks' : `/painel/webhooks/${id}/editar`}"
      >
        ${formToken(visit)} <input type="hidden" name="chave" value="${randomUUIDv7()}" />
        <label for="url">${t.webhooks.url}</label>
        <input
          id="url"
          name="url"
          type="url"
          required
          maxlength="2048"
          value="${wanted?.url ?? ''}"
          placeholder="https://"
          aria-describedby="url-hint"
          ${wrongField(refusal, 'url')}
        />
        <p id="url-hint" class="dim">${t.webhooks.urlHint}</p>
        ${eventBoxes(visit, wanted?.eventos ?? [], wrongField(refusal, 'eventos') !== '')}
        <p class="actions">
          <button class="primary">${id === undefined ? t.webhooks.create : t.webhooks.save}</button>
          <a class="button" href="/painel/webhooks${id === undefined ? '' : `/${id}`}">${t.words.cancel}</a>
        </p>
      </form>`,
  });
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
