/** Signing in: with a token that is pasted, or with one that the sandbox makes. */
import type { Hono } from 'hono';
import { html } from 'hono/html';
import { ApiError } from '../http/api-error.ts';
import { isToLoopback } from '../http/auth/hosts.ts';
import type { PainelContext, PainelDeps, PainelEnv } from './env.ts';
import { hidden, VERBATIM } from './frame/forms.ts';
import { ownPage, readForm, requireOwn } from './frame/guard.ts';
import { entriesFor } from './frame/nav.ts';
import { answerPage, sentence } from './frame/page.ts';
import { notice } from './frame/parts.ts';
import { forgetToken, type Gatekeeper, keepToken, openSession } from './session.ts';

export function addSignIn(app: Hono<PainelEnv>, deps: PainelDeps, gate: Gatekeeper): void {
  /** The form; `back` is the page to open afterwards. */
  const answer = (c: PainelContext, back: string, status = 200, message = '') => {
    const { title, intro, token, tokenHint, sandbox, sandboxHint } = c.var.texts.signIn;
    const sandboxForm = html`<form class="stack narrow" method="post" action="/painel/entrar/sandbox">
      ${hidden('volta', back)}
      <p>${sandboxHint}</p>
      <button>${sandbox}</button>
    </form>`;
    return answerPage(c, {
      title,
      status,
      body: html`${message === '' ? '' : notice('failed', message)}
        <p>${intro}</p>
        <form class="stack narrow" method="post" action="/painel/entrar">
          ${hidden('volta', back)} <label for="token">${token}</label>
          <input id="token" name="token" type="password" ${VERBATIM} required aria-describedby="token-hint" />
          <p id="token-hint" class="dim">${tokenHint}</p>
          <button class="primary">${title}</button>
        </form>
        ${deps.sandboxToken !== null && sandboxForm}`,
    });
  };
  const enter = async (c: PainelContext, token: string, back: string) => {
    const { texts: t, language } = c.var;
    try {
      const session = await openSession(gate, token);
      if (entriesFor(session.identity, deps.sandbox !== null).length === 0) {
        return await answer(c, back, 403, t.signIn.nothing);
      }
      const isBehindTls = deps.sandbox === null || deps.publicUrl?.protocol === 'https:';
      keepToken(c, session, isBehindTls && !isToLoopback(c.req));
      return c.redirect(back, 303);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'CREDENCIAL_INVALIDA') throw error;
      return answer(c, back, 401, language === 'pt' ? error.message : sentence(t, error.message));
    }
  };

  app.get('/painel/entrar', (c) => {
    const { needed: entre, ended: fim } = c.var.texts.signIn;
    const message = new Map(Object.entries({ entre, fim })).get(c.req.query('motivo') ?? '');
    return answer(c, ownPage(c.req.query('volta')), 200, message);
  });
  app.post('/painel/entrar', async (c) => {
    requireOwn(c);
    const form = await readForm(c);
    const token = (form.get('token') ?? '').trim().replace(/^Bearer +/i, '');
    const back = ownPage(form.get('volta'));
    return token === '' ? answer(c, back, 400, c.var.texts.signIn.missing) : enter(c, token, back);
  });
  app.post('/painel/entrar/sandbox', async (c) => {
    requireOwn(c);
    const back = ownPage((await readForm(c)).get('volta'));
    return deps.sandboxToken === null ? c.notFound() : enter(c, await deps.sandboxToken(), back);
  });
  app.post('/painel/sair', async (c) => {
    requireOwn(c);
    forgetToken(c);
    return c.redirect('/painel/entrar', 303);
  });
}
