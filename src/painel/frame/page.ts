/** The frame of every page, and its messages for refusals and errors. */
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { ERROR_STATUS, type ErrorBody } from '../../contract/errors.ts';
import { WHEN_REFUSED } from '../../http/openapi/error-answers.ts';
import { errorBody, logFault, toApiError } from '../../http/errors.ts';
import type { Logger } from '../../log-lines.ts';
import { Refused, type Refusal } from '../api-client.ts';
import type { Html, PainelContext } from '../env.ts';
import { pathOf } from '../files.ts';
import { LANGUAGE_TAG, type Texts } from '../language/choose.ts';
import { momentText, ZONES } from './clock.ts';
import { hidden, postForm, select } from './forms.ts';
import { entriesFor } from './nav.ts';
import { notice, shortId } from './parts.ts';

export interface Page {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  /** Told above the body, and by the status. */
  readonly refusal?: Pick<Refusal, 'status' | 'error'> | undefined;
  /** What the page before this one did, by its word in the address. */
  readonly done?: Readonly<Record<string, string>>;
  /** In place of the pages that the session's token opens. */
  readonly navigation?: Html;
}

/** htmx adds no style, which the policy would block. Errors are not swapped in, and a redraw keeps open parts open. */
const HTMX = JSON.stringify({
  includeIndicatorCSS: false,
  morphIgnore: ['data-htmx-powered', 'open'],
  noSwap: [204, 304, 401, 403, 404, 429, '5xx'],
});

const UUID = /^[\da-f-]{36}$/i;

export function answerPage(c: PainelContext, page: Page): Response | Promise<Response> {
  const { language, texts: t, theme } = c.var;
  const { title, body, refusal, status = refusal?.status ?? 200, done = {}, navigation } = page;
  const said = new Map(Object.entries(done)).get(c.req.query('feito') ?? '');
  return c.html(
    html`<!doctype html>
      <html lang="${LANGUAGE_TAG[language]}" data-theme="${theme}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <meta name="htmx-config" content="${HTMX}" />
          <title>${t.frame.title(title)}</title>
          <link rel="icon" href="${pathOf('icon.svg')}" type="image/svg+xml" />
          <link rel="stylesheet" href="${pathOf('page.css')}" />
          <script src="${pathOf('htmx.js')}" defer></script>
          <script src="${pathOf('page.js')}" defer></script>
        </head>
        <body>
          <a class="skip" href="#main">${t.frame.skip}</a>
          <header class="top">
            <a class="brand" href="/painel"
              ><svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
                <path
                  d="M2 5h20v14H2z M2 6l10 8 10-8"
                  fill="none"
                  stroke="currentColor"
                  stroke-width="2"
                  stroke-linejoin="round"
                />
              </svg>
              Carteiro</a
            >
            <span class="place badge${c.var.sandbox ? ' badge-pendente' : ''}"
              >${c.var.sandbox ? t.frame.place.sandbox : t.frame.place.production}</span
            >
            ${navigation ?? sessionNavigation(c)} ${account(c)}
          </header>
          <main id="main" tabindex="-1">
            <h1>${title}</h1>
            ${refusal === undefined ? '' : refusalList(c, refusal.error)}
            ${said === undefined ? '' : notice('done', said)} ${body}
          </main>
          <footer><a href="/docs">${t.frame.docs}</a>${preferences(c)}</footer>
        </body>
      </html> `,
    status as ContentfulStatusCode,
  );
}

/** Pages beside each other, in the header; the reader is at the one of `here`. */
export function menu(label: string, pages: readonly { path: string; label: string }[], here?: string): Html {
  return html`<nav aria-label="${label}">
    <ul>
      ${pages.map(
        (page) =>
          html`<li>
            <a href="${page.path}" ${page.path === here ? html` aria-current="page"` : ''}>${page.label}</a>
          </li>`,
      )}
    </ul>
  </nav>`;
}

function sessionNavigation(c: PainelContext): Html | '' {
  const { session, texts: t, sandbox } = c.var;
  if (session === null) return '';
  const entries = entriesFor(session.identity, sandbox).map(({ path, label }) => ({ path, label: t.frame[label] }));
  return menu(t.frame.menu, entries, entries.find(({ path }) => `${c.req.path}/`.startsWith(`${path}/`))?.path);
}

function account(c: PainelContext): Html | '' {
  const { session, texts: t } = c.var;
  if (session === null) return '';
  const { actor } = session.identity;
  const who = html`<span class="dim" title="${t.frame.until(momentText(c.var, session.endsAt))}">
      ${session.account !== null && html`<strong>${session.account}</strong>`}
      <span class="actor">${UUID.test(actor) ? shortId(actor) : actor}</span>
    </span>
    <button class="small">${t.frame.signOut}</button>`;
  return postForm({ session }, '/painel/sair', who, 'account');
}

/** Kept in cookies, and changed by who is not signed in too. */
function preferences(c: PainelContext): Html {
  const { texts: t, language, theme } = c.var;
  const other = language === 'pt' ? 'en' : 'pt';
  const zones = ZONES.map((zone) => [zone, zone.replace('_', ' ')] as const);
  const back = c.req.method === 'GET' ? new URL(c.req.url).pathname + new URL(c.req.url).search : '/painel';
  return html`<form class="preferences" method="post" action="/painel/preferencias">
    ${hidden('volta', back)} ${select(t.frame.theme, 'tema', theme, Object.entries(t.frame.themes))}
    ${select(t.frame.timesAre, 'fuso', c.var.zone, zones)} <button class="small">${t.frame.apply}</button>
    <button class="small" name="idioma" value="${other}" lang="${LANGUAGE_TAG[other]}">${t.frame.language}</button>
  </form>`;
}

/** A sentence of the API in the page's language: its own words where the page has no others. */
export function sentence(t: Texts, words: string): string {
  return t.errors.rules[words] ?? words;
}

export function refusalList({ var: { texts: t, language } }: PainelContext, error: ErrorBody): Html {
  const when = WHEN_REFUSED[error.codigo][language];
  const details = error.detalhes ?? [];
  return html`<div class="notice notice-failed" role="alert">
    <p>${language === 'pt' ? error.mensagem : `${when.charAt(0).toUpperCase()}${when.slice(1)}.`}</p>
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

export function wrongField(refusal: Refusal | undefined, field: string): Html | '' {
  const isWrong = refusal?.error.detalhes?.some(({ campo }) => campo === field || campo.startsWith(`${field}.`));
  return isWrong === true ? html`aria-invalid="true"` : '';
}

/** Answers whatever a page threw; a fault of ours is logged and shows its request's number alone. */
export function answerFault(log: Logger) {
  return (fault: unknown, c: PainelContext): Response | Promise<Response> => {
    const { errors } = c.var.texts;
    const body = html`<p><a class="button" href="/painel">${errors.back}</a></p>`;
    if (fault instanceof Refused) return answerPage(c, { title: errors.title, refusal: fault.refusal, body });
    const known = toApiError(fault);
    logFault(log, known, c.var);
    const refusal = { status: ERROR_STATUS[known.code], error: errorBody(known, c.var.requestId) };
    return answerPage(c, { title: errors.title, refusal, body });
  };
}
