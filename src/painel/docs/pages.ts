/** The documentation at /docs, for everybody: no token, one language at a time, no other host. */
import type { Hono } from 'hono';
import { html } from 'hono/html';
import { unavailable } from '../../http/api-error.ts';
import type { Html, PainelContext, PainelDeps, PainelEnv } from '../env.ts';
import { answerPage } from '../frame/page.ts';
import { DOCS } from '../language/choose.ts';
import type { DocsTexts } from '../language/pt/docs.ts';
import { apiBody, type ApiDescription } from './api.ts';
import { eventsBody } from './events.ts';
import { scheduleBody } from './schedule.ts';
import { startBody } from './start.ts';
import { verificationBody } from './verification.ts';

const PATHS: Readonly<Record<keyof DocsTexts['pages'], string>> = {
  start: '/docs',
  events: '/docs/eventos',
  verification: '/docs/verificacao',
  schedule: '/docs/calendario',
  api: '/docs/api',
};

export function addDocsPages(app: Hono<PainelEnv>, { api }: PainelDeps): void {
  const description = once(async () => {
    const answer = await api(new Request('http://carteiro/openapi.json'));
    if (answer.status !== 200) throw unavailable(new Error(`/openapi.json was answered ${answer.status}`));
    return (await answer.json()) as ApiDescription;
  });
  app.get(PATHS.start, (c) => answer(c, 'start', startBody(c)));
  app.get(PATHS.events, (c) => answer(c, 'events', eventsBody(c)));
  app.get(PATHS.verification, (c) => answer(c, 'verification', verificationBody(c)));
  app.get(PATHS.schedule, (c) => answer(c, 'schedule', scheduleBody(c)));
  app.get(PATHS.api, async (c) => answer(c, 'api', apiBody(c, await description())));
}

function answer(c: PainelContext, page: keyof DocsTexts['pages'], body: Html): Response | Promise<Response> {
  const words = DOCS[c.var.language];
  c.header('Cache-Control', 'no-cache');
  return answerPage(c, { title: words[page].title, body, navigation: menu(words, page) });
}

function menu({ menu: label, pages }: DocsTexts, here: keyof DocsTexts['pages']): Html {
  return html`<nav aria-label="${label}">
    <ul>
      ${(Object.keys(PATHS) as (keyof typeof PATHS)[]).map(
        (page) =>
          html`<li>
            <a href="${PATHS[page]}" ${page === here ? html` aria-current="page"` : ''}>${pages[page]}</a>
          </li>`,
      )}
    </ul>
  </nav>`;
}

/** Keeps what `make` made; a failure is not kept. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };
}
