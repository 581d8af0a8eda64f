/** What stands before each page: a session, the right to see it and, before changes, that the request is the page's own. */
import type { Hono, HonoRequest } from 'hono';
import { ApiError } from '../../http/api-error.ts';
import { readBytes } from '../../http/body/body.ts';
import { createApiClient } from '../api-client.ts';
import type { PainelContext, PainelDeps, PainelEnv, Visit } from '../env.ts';
import { forgetToken, type Gatekeeper, isFormToken, openSession, readToken } from '../session.ts';
import { ownPage } from './own-page.ts';
import { isAllowed, type Rule } from './nav.ts';

type Show = (visit: Visit) => Response | Promise<Response>;
type Act = (visit: Visit, form: URLSearchParams) => Response | Promise<Response>;

/** Adds pages, and what changes something, for whom `rule` lets in; null: everybody who is signed in. */
export type Guard = ReturnType<typeof createGuard>;

export function createGuard(app: Hono<PainelEnv>, deps: PainelDeps, gate: Gatekeeper) {
  const enter = async (c: PainelContext, rule: Rule | null): Promise<Visit | Response> => {
    const token = readToken(c);
    if (token === undefined) return leadToSignIn(c, 'entre');
    try {
      const session = await openSession(gate, token);
      c.set('session', session);
      c.set('partnerId', session.identity.partnerId);
      if (rule !== null && !isAllowed(session.identity, rule)) throw lacking(rule);
      return { c, session, api: createApiClient(deps.api, token), t: c.var.texts };
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'CREDENCIAL_INVALIDA') throw error;
      forgetToken(c);
      return leadToSignIn(c, 'fim');
    }
  };
  return {
    show(path: string, rule: Rule | null, page: Show) {
      app.get(path, async (c) => {
        const visit = await enter(c, rule);
        return visit instanceof Response ? visit : page(visit);
      });
    },
    act(path: string, rule: Rule | null, action: Act) {
      app.post(path, async (c) => {
        requireOwn(c);
        const form = await readForm(c);
        const visit = await enter(c, rule);
        if (visit instanceof Response) return visit;
        if (!isFormToken(visit.session, form.get('formulario'))) throw refused(c.var.texts.errors.staleForm);
        return action(visit, form);
      });
    },
  };
}

/** To the door, and back to this page from there; what was to be changed is not changed. */
function leadToSignIn(c: PainelContext, reason: 'entre' | 'fim'): Response {
  const { pathname, search } = new URL(c.req.url);
  const back = c.req.method === 'GET' ? ownPage(pathname + search) : '/painel';
  const door = `/painel/entrar?${new URLSearchParams({ motivo: reason, volta: back }).toString()}`;
  // A part of a page that htmx asked for: the whole page goes there.
  if (c.req.header('HX-Request') === 'true') return c.body(null, 200, { 'HX-Redirect': door });
  return c.redirect(door, 303);
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

function lacking({ scope }: Rule): ApiError {
  return new ApiError('ESCOPO_INSUFICIENTE', `o token não tem o escopo ${scope}`);
}

/** Sec-Fetch-Site, which no page can forge, or Origin where there is no TLS: each browser sends one with a form; else refused. */
function isOwnOrigin(request: HonoRequest): boolean {
  const site = request.header('Sec-Fetch-Site');
  if (site !== undefined) return site === 'same-origin';
  const origin = request.header('Origin');
  if (origin === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === request.header('Host')?.toLowerCase();
}
