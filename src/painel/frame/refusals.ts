/** What a page says when something is refused or fails. */
import { html } from 'hono/html';
import { ERROR_STATUS, type ErrorBody } from '../../contract/errors.ts';
import { WHEN_REFUSED } from '../../http/openapi/error-answers.ts';
import { errorBody, logFault, toApiError } from '../../http/errors.ts';
import type { Logger } from '../../log-lines.ts';
import { Refused, type Refusal } from '../api-client.ts';
import type { Html, PainelContext } from '../env.ts';
import type { Language } from '../../contract/language.ts';
import type { Texts } from '../language/choose.ts';
import { answerPage } from './page.ts';

/** A sentence of the API in the page's language: its own words where the page has no others. */
export function sentence(t: Texts, words: string): string {
  return t.errors.rules[words] ?? words;
}

export function refusalList(
  c: { readonly var: { readonly texts: Texts; readonly language: Language } },
  error: ErrorBody,
): Html {
  const { texts: t, language } = c.var;
  const said = language === 'pt' ? error.mensagem : asSentence(WHEN_REFUSED[error.codigo][language]);
  const details = error.detalhes ?? [];
  return html`<div class="notice notice-failed" role="alert">
    <p>${said}</p>
    ${
      details.length === 0
        ? ''
        : html`<ul>
            ${details.map(({ campo, mensagem }) => html`<li><code>${campo}</code>: ${sentence(t, mensagem)}</li>`)}
          </ul>`
    }
    <p class="dim">${t.errors.request} <span class="id">${error.requisicao_id}</span></p>
  </div>`;
}

function asSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

export function wrongField(refusal: Refusal | undefined, field: string): Html | '' {
  const isWrong = refusal?.error.detalhes?.some(({ campo }) => campo === field || campo.startsWith(`${field}.`));
  return isWrong === true ? html`aria-invalid="true"` : '';
}

function answerRefusal(c: PainelContext, { status, error }: Refusal): Response | Promise<Response> {
  const { texts: t } = c.var;
  return answerPage(c, {
    title: t.errors.title,
    status,
    body: html`${refusalList(c, error)}
      <p><a class="button" href="/painel">${t.errors.back}</a></p>`,
  });
}

/** Answers whatever a page threw; a fault of ours is logged and shows its request's number alone. */
export function answerFault(log: Logger) {
  return (fault: unknown, c: PainelContext): Response | Promise<Response> => {
    if (fault instanceof Refused) return answerRefusal(c, fault.refusal);
    const known = toApiError(fault);
    logFault(log, known, c.var);
    return answerRefusal(c, { status: ERROR_STATUS[known.code], error: errorBody(known, c.var.requestId) });
  };
}
