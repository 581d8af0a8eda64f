/** Checks before each page: a session, the right to see the page and, before a change, that the request comes from a page of ours. */
import type { Hono, HonoRequest } from 'hono';
import { id as uuid } from '../../contract/values.ts';
import { ApiError, notFound } from '../../http/api-error.ts';
import { readBytes } from '../../http/body/body.ts';
import { type Answer, createApiClient, Refused, type Refusal } from '../api-client.ts';
import type { PainelContext, PainelDeps, PainelEnv, Visit } from '../env.ts';
import { forgetToken, type Gatekeeper, isFormToken, openSession, readToken } from '../session.ts';
import { isAllowed, type Rule, WRITE } from './nav.ts';
import { answerPage, type Page } from './page.ts';

/** A page to show, or an answer of another kind. */
type Shown = Page | Response | Promise<Page | Response>;

/** Adds pages, and what changes something, for whom `rule` lets in; null: everybody who is signed in. */
export type Guard = ReturnType<typeof createGuard>;

export function createGuard(app: Hono<PainelEnv>, deps: PainelDeps, gate: Gatekeeper) {
  const enter = async (c: PainelContext, rule: Rule | null): Promise<Visit | Response> => {
    const token = readToken(c);
    if (token === undefined) return leadToSignIn(c, 'entre');
    try {
      const session = await openSession(gate, token);
      const { identity } = session;
      c.set('session', session);
      c.set('partnerId', identity.partnerId);
      if (rule !== null && !isAllowed(identity, rule)) throw refused(`o token não tem o escopo ${rule.scope}`);
      return {
        c,
        id: pathId(c),
        session,
        mayWrite: isAllowed(identity, WRITE),
        api: createApiClient(deps.api, token),
        t: c.var.texts,
        query: (...names) =>
          Object.fromEntries(names.map((name) => [name, c.req.query(name)?.trim() ?? ''])) as ReturnType<
            Visit['query']
          >,
      };
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'CREDENCIAL_INVALIDA') throw error;
      forgetToken(c);
      return leadToSignIn(c, 'fim');
    }
  };
  const answer = async (c: PainelContext, shown: Shown) => {
    const page = await shown;
    return page instanceof Response ? page : answerPage(c, page);
  };
  return {
    show(path: string, rule: Rule | null, page: (visit: Visit) => Shown) {
      app.get(path, async (c) => {
        const visit = await enter(c, rule);
        return visit instanceof Response ? visit : answer(c, page(visit));
      });
    },
    act(path: string, rule: Rule, action: (visit: Visit, form: URLSearchParams) => Shown) {
      app.post(path, async (c) => {
        requireOwn(c);
        const form = await readForm(c);
        const visit = await enter(c, rule);
        if (visit instanceof Response) return visit;
        if (!isFormToken(visit.session, form.get('formulario'))) throw refused(c.var.texts.errors.staleForm);
        return answer(c, action(visit, form));
      });
    },
  };
}

/** The id in the path, as the service writes ids; 404 for anything else. Empty where the path has none. */
function pathId(c: PainelContext): string {
  const given = c.req.param('id');
  if (given === undefined) return '';
  const parsed = uuid.safeParse(given);
  if (!parsed.success) throw notFound();
  return parsed.data.toLowerCase();
}

/** Refusals that the reader can correct, or try again. */
const MENDABLE = new Set([400, 409, 429, 503]);

/** Redirects to `page`, which says what was done. `again` shows the form with the refusal; without it the refusal has a page of its own. */
export function settle<T>(
  { c }: Visit,
  answer: Answer<T>,
  page: string,
  done: string,
  again?: (refusal: Refusal) => Shown,
): Shown {
  if (answer.ok) return c.redirect(`${page}?feito=${done}`, 303);
  if (again === undefined || !MENDABLE.has(answer.status)) throw new Refused(answer);
  return again(answer);
}

/** A page of this host's own, to go back to; nothing that a browser could take for another host. */
const OWN_PAGE = /^\/(?:painel|docs)(?:[/?][\w\-./?=&%~:+,]*)?$/;
const MAX_LENGTH = 2_000;

/** `given` when it is one of the page's addresses, else its start. */
export function ownPage(given: string | null | undefined): string {
  return typeof given === 'string' && given.length <= MAX_LENGTH && OWN_PAGE.test(given) ? given : '/painel';
}

/** Redirects to the sign-in, which leads back to this page. A change that was asked for is not made. */
function leadToSignIn(c: PainelContext, reason: 'entre' | 'fim'): Response {
  const { pathname, search } = new URL(c.req.url);
  const back = c.req.method === 'GET' ? ownPage(pathname + search) : '/painel';
  const signIn = `/painel/entrar?${new URLSearchParams({ motivo: reason, volta: back }).toString()}`;
  // htmx asked for a part: the whole page has to leave.
  if (c.req.header('HX-Request') === 'true') return c.body(null, 200, { 'HX-Redirect': signIn });
  return c.redirect(signIn, 303);
}

/** 403 for a change that another site's page asks for. */
export function requireOwn(c: PainelContext): void {
  if (!isOwnOrigin(c.req)) throw refused(c.var.texts.errors.foreign);
}

/** The fields of a form as browsers send it. */
export async function readForm(c: PainelContext): Promise<URLSearchParams> {
  const type = c.req.header('Content-Type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') throw new ApiError('ERRO_VALIDACAO', c.var.texts.errors.badForm);
  return new URLSearchParams((await readBytes(c.req)).toString());
}

function refused(message: string): ApiError {
  return new ApiError('ESCOPO_INSUFICIENTE', message);
}

/** Sec-Fetch-Site, which no page can forge, or Origin where there is no TLS: each browser sends one with a form; else refused. */
function isOwnOrigin(request: HonoRequest): boolean {
  const site = request.header('Sec-Fetch-Site');
  if (site !== undefined) return site === 'same-origin';
  const origin = request.header('Origin');
  if (origin === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === request.header('Host')?.toLowerCase();
}
