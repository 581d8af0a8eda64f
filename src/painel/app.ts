/**
 * The page at /painel, for anyone with a token, and the documentation at /docs, for everybody. It works without a script; scripts
 * make it quicker and live. The policy lets the browser ask no other host, and use no script and style but our files.
 */
import { Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { routePath } from 'hono/route';
import { notFound } from '../http/api-error.ts';
import { createGate } from '../http/gate.ts';
import { type Fetch, type Sent, logRequests } from '../http/request.ts';
import { answerTagged } from '../http/answer.ts';
import { addAlertPages } from './alerts/pages.ts';
import { addAuditorPages } from './auditor/pages.ts';
import { addDeliveryPages } from './deliveries/list.ts';
import { addDocsPages, REFERENCE_PATHS } from './docs/pages.ts';
import type { PainelContext, PainelDeps, PainelEnv, Theme } from './env.ts';
import { addEventPages } from './events/pages.ts';
import { findFile } from './files.ts';
import { zoneOf } from './frame/clock.ts';
import { createGuard, ownPage, readForm, requireOwn } from './frame/guard.ts';
import { entriesFor } from './frame/nav.ts';
import { answerFault } from './frame/page.ts';
import { LANGUAGES, languageOf } from './language/choose.ts';
import { addLoanPages } from './loans/pages.ts';
import { addOperatorPages } from './operator/pages.ts';
import { addOverviewPages } from './overview/pulse.ts';
import { addSandboxPages } from './sandbox/pages.ts';
import { addSignIn } from './sign-in.ts';
import { addWebhookPages } from './webhooks/pages.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The reference's library has icons in its style. */
const REFERENCE_POLICY = POLICY.replace("img-src 'self'", "img-src 'self' data:");

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

const LANGUAGE_COOKIE = 'carteiro_idioma';
const THEME_COOKIE = 'carteiro_tema';
const ZONE_COOKIE = 'carteiro_fuso';
const THEMES: readonly Theme[] = ['auto', 'claro', 'escuro'];
const PAGES = /^\/(painel|docs)(\/|$)|^\/llms\.txt$/;
const YEAR_S = 365 * 24 * 60 * 60;

export type Painel = ReturnType<typeof createPainel>;

export function createPainel(deps: PainelDeps) {
  const app = new Hono<PainelEnv>();
  const gate = createGate(deps);
  const guard = createGuard(app, deps, gate);
  app.use(logRequests(deps.log, deps.metrics));
  app.use(async (c, next) => {
    choose(c, deps.sandbox !== null);
    await next();
    for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value);
    if (REFERENCE_PATHS.includes(c.req.path)) c.res.headers.set('Content-Security-Policy', REFERENCE_POLICY);
  });
  app.use(async (c, next) => {
    // The pattern, never the path: what nobody routes may hold anything.
    await next();
    const deepest = routePath(c);
    if (!deepest.includes('*')) c.set('route', deepest);
  });
  const answer = answerFault(deps.log);
  app.onError(answer);
  app.notFound((c) => answer(notFound(), c));

  addDocsPages(app, deps);
  addSignIn(app, deps, gate);
  app.get('/painel/arquivos/:file', answerFile);
  app.post('/painel/preferencias', (c) => keepPreferences(c));
  guard.show('/painel', null, ({ c, session }) => {
    const [first] = entriesFor(session.identity, deps.sandbox !== null);
    return c.redirect(first?.path ?? '/painel/entrar', 303);
  });
  addOverviewPages(guard);
  addDeliveryPages(guard);
  addWebhookPages(guard);
  addLoanPages(guard);
  addEventPages(guard);
  addAlertPages(guard);
  addAuditorPages(guard);
  addOperatorPages(guard);
  const endSandbox = deps.sandbox !== null ? addSandboxPages(app, deps, guard) : () => undefined;
  return {
    fetch: (request: Request, sent?: Sent): Response | Promise<Response> => app.fetch(request, sent),
    /** Ends what the sandbox holds back, so that the server can close. */
    close: endSandbox,
  };
}

/** Both apps as one: what lies under /painel and /docs is the page's. */
export function besidePainel(api: Fetch, painel: Painel): Fetch {
  return (request, sent) => {
    const { pathname } = new URL(request.url);
    return PAGES.test(pathname) ? painel.fetch(request, sent) : api(request, sent);
  };
}

function choose(c: PainelContext, sandbox: boolean): void {
  const language = languageOf(getCookie(c, LANGUAGE_COOKIE), c.req.header('Accept-Language'));
  const theme = THEMES.find((known) => known === getCookie(c, THEME_COOKIE)) ?? 'auto';
  c.set('language', language);
  c.set('texts', LANGUAGES[language]);
  c.set('theme', theme);
  c.set('zone', zoneOf(getCookie(c, ZONE_COOKIE)));
  c.set('sandbox', sandbox);
  c.set('session', null);
}

function answerFile(c: PainelContext): Response {
  const file = findFile(c.req.param('file') ?? '');
  if (file === undefined) throw notFound();
  return answerTagged(c, file, file.type, { 'Cache-Control': 'public, max-age=31536000, immutable' });
}

async function keepPreferences(c: PainelContext): Promise<Response> {
  requireOwn(c);
  const form = await readForm(c);
  const keep = (name: string, value: string) =>
    setCookie(c, name, value, { path: '/', httpOnly: true, sameSite: 'Strict', maxAge: YEAR_S });
  const language = form.get('idioma');
  if (language !== null) keep(LANGUAGE_COOKIE, languageOf(language));
  const theme = THEMES.find((known) => known === form.get('tema'));
  if (theme !== undefined) keep(THEME_COOKIE, theme);
  const zone = form.get('fuso');
  if (zone !== null) keep(ZONE_COOKIE, zoneOf(zone));
  return c.redirect(ownPage(form.get('volta')), 303);
}
