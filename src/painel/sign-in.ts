/** The door: a token is pasted, or the sandbox makes one. */
import type { Hono } from 'hono';
import { html } from 'hono/html';
import { ApiError } from '../http/api-error.ts';
import { isToLoopback } from '../http/auth/hosts.ts';
import type { Html, PainelContext, PainelDeps, PainelEnv } from './env.ts';
import { ownPage, readForm, requireOwn } from './frame/guard.ts';
import { entriesFor } from './frame/nav.ts';
import { answerPage, sentence } from './frame/page.ts';
import { hidden, VERBATIM } from './frame/forms.ts';
import { notice } from './frame/parts.ts';
import { forgetToken, type Gatekeeper, keepToken, openSession } from './session.ts';

interface SignIn {
  readonly status?: number;
  readonly message?: string;
  /** Where to go on. */
  readonly back: string;
}

function answerSignIn(
  c: PainelContext,
  deps: PainelDeps,
  { status = 200, message, back }: SignIn,
): Response | Promise<Response> {
  const { texts: t } = c.var;
  return answerPage(c, {
    title: t.signIn.title,
    status,
    body: html`${message === undefined ? '' : notice('failed', message)}
      <p>${t.signIn.intro}</p>
      <form class="stack narrow" method="post" action="/painel/entrar">
        ${hidden('volta', back)}
        <label for="token">${t.signIn.token}</label>
        <input id="token" name="token" type="password" ${VERBATIM} required aria-describedby="token-hint" />
        <p id="token-hint" class="dim">${t.signIn.tokenHint}</p>
        <button class="primary">${t.signIn.submit}</button>
      </form>
      ${deps.sandboxToken === null ? '' : sandboxForm(c, back)}`,
  });
}

function sandboxForm(c: PainelContext, back: string): Html {
  const { texts: t } = c.var;
  return html`<form class="stack narrow" method="post" action="/painel/entrar/sandbox">
    ${hidden('volta', back)}
    <p>${t.signIn.sandboxHint}</p>
    <button>${t.signIn.sandbox}</button>
  </form>`;
}

export function addSignIn(app: Hono<PainelEnv>, deps: PainelDeps, gate: Gatekeeper): void {
  const enter = async (c: PainelContext, token: string, back: string) => {
    const { texts: t } = c.var;
    try {
      const session = await openSession(gate, token);
      if (entriesFor(session.identity, deps.sandbox !== null).length === 0) {
        return await answerSignIn(c, deps, { status: 403, message: t.signIn.nothing, back });
      }
      const isBehindTls = deps.sandbox === null || deps.publicUrl?.protocol === 'https:';
      keepToken(c, session, isBehindTls && !isToLoopback(c.req));
      return c.redirect(back, 303);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'CREDENCIAL_INVALIDA') throw error;
      const said = c.var.language === 'pt' ? error.message : sentence(t, error.message);
      return answerSignIn(c, deps, { status: 401, message: said, back });
    }
  };

  app.get('/painel/entrar', (c) => {
    const { needed: entre, ended: fim } = c.var.texts.signIn;
    const message = new Map(Object.entries({ entre, fim })).get(c.req.query('motivo') ?? '');
    return answerSignIn(c, deps, { back: ownPage(c.req.query('volta')), ...(message !== undefined && { message }) });
  });
  app.post('/painel/entrar', async (c) => {
    requireOwn(c);
    const form = await readForm(c);
    const token = (form.get('token') ?? '').trim().replace(/^Bearer +/i, '');
    const back = ownPage(form.get('volta'));
    if (token === '') return answerSignIn(c, deps, { status: 400, message: c.var.texts.signIn.missing, back });
    return enter(c, token, back);
  });
  app.post('/painel/entrar/sandbox', async (c) => {
    requireOwn(c);
    const back = ownPage((await readForm(c)).get('volta'));
    if (deps.sandboxToken === null) return c.notFound();
    return enter(c, await deps.sandboxToken(), back);
  });
  app.post('/painel/sair', async (c) => {
    requireOwn(c);
    forgetToken(c);
    return c.redirect('/painel/entrar', 303);
  });
}
