/** `GET /`: what this is and where to go on. A browser, which asks for HTML, is led to the page at /painel. No token. */
import type { Context } from 'hono';
import product from '../../../package.json' with { type: 'json' };
import type { Env } from '../request-env.ts';

export function answerRoot(c: Context<Env>): Response {
  c.header('Vary', 'Accept');
  // Relative, so that it also holds behind a proxy that serves this under a path of its own.
  if (c.req.header('Accept')?.includes('text/html')) return c.redirect('painel', 302);
  return c.json({
    nome: 'Carteiro',
    versao: product.version,
    documentacao: '/docs',
    openapi: '/openapi.json',
    saude: '/healthz',
  });
}
