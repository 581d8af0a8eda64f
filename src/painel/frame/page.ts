/** The frame around every page. */
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Html, PainelContext } from '../env.ts';
import { pathOf } from '../files.ts';
import { LANGUAGE_TAG } from '../language/choose.ts';
import { entriesFor } from './nav.ts';
import { momentText, ZONES } from './clock.ts';
import { choices, select } from './forms.ts';
import { menu, shortId } from './parts.ts';

export interface Page {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  /** In place of the pages that the session's token opens. */
  readonly navigation?: Html;
}

/** No evaluated attribute and no style from the script: the policy would stop both. */
const HTMX = '{"includeIndicatorCSS":false,"history":true}';

const UUID = /^[\da-f-]{36}$/i;

export function answerPage(
  c: PainelContext,
  { title, body, status = 200, navigation }: Page,
): Response | Promise<Response> {
  const { language, texts: t, theme } = c.var;
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
          <script src="${pathOf('live.js')}" defer></script>
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
            ${body}
          </main>
          <footer><a href="/docs">${t.frame.docs}</a>${preferences(c)}</footer>
        </body>
      </html> `,
    status as ContentfulStatusCode,
  );
}

function sessionNavigation(c: PainelContext): Html | '' {
  const { session, texts: t } = c.var;
  if (session === null) return '';
  const entries = entriesFor(session.identity, c.var.sandbox).map(({ path, label }) => {
    return { path, label: label(t), isHere: c.req.path === path || c.req.path.startsWith(`${path}/`) };
  });
  return menu(t.frame.menu, entries);
}

function account(c: PainelContext): Html | '' {
  const { session, texts: t } = c.var;
  if (session === null) return '';
  const { actor } = session.identity;
  return html`<form class="account" method="post" action="/painel/sair">
    <input type="hidden" name="formulario" value="${session.formToken}" />
    <span class="dim" title="${t.frame.until(momentText(c.var, session.endsAt))}">
      ${session.account !== null && html`<strong>${session.account}</strong>`}
      <span class="actor">${UUID.test(actor) ? shortId(actor) : actor}</span>
    </span>
    <button class="small">${t.frame.signOut}</button>
  </form>`;
}

/** Kept in cookies, and changed by who is not signed in too. */
function preferences(c: PainelContext): Html {
  const { texts: t, language, theme } = c.var;
  const other = language === 'pt' ? 'en' : 'pt';
  const zones = ZONES.map((zone) => [zone, zone.replace('_', ' ')] as const);
  const back = c.req.method === 'GET' ? new URL(c.req.url).pathname + new URL(c.req.url).search : '/painel';
  return html`<form class="preferences" method="post" action="/painel/preferencias">
    <input type="hidden" name="volta" value="${back}" />
    ${select(t.frame.theme, 'tema', choices(theme, Object.entries(t.frame.themes)))}
    ${select(t.frame.timesAre, 'fuso', choices(c.var.zone, zones))}
    <button class="small">${t.frame.apply}</button>
    <button class="small" name="idioma" value="${other}" lang="${LANGUAGE_TAG[other]}">${t.frame.language}</button>
  </form>`;
}
