/**
 * What is answered without a token: what this is, to a browser the page at /painel; whether it is ready, and in what
 * numbers, to an orchestrator and a monitor; `listen` as one file for Node alone, made by main/make-listen.ts; and the description.
 */
import product from '../../../package.json' with { type: 'json' };
import type { Context } from 'hono';
import type { Env } from '../request.ts';
import { logUnavailable } from '../../db/outage-log.ts';
import { ApiError, unavailable } from '../api-error.ts';
import type { HttpDeps } from '../deps.ts';
import { errorBody } from '../errors.ts';
import { readFileSync } from 'node:fs';
import { answerTagged, type Tagged, tagged } from '../answer.ts';
import { INVALID_FIELDS } from '../../contract/refusals.ts';
import { AUDIENCES, type Audience } from '../openapi/texts.ts';

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

/** 503 unless the database answers, takes writes and is migrated; `mensagem` says what is missing. Logged as it changes. */
export function answerReady({ ready, log }: Pick<HttpDeps, 'ready' | 'log'>) {
  let reported: string | null = null;
  const look = async (): Promise<string | null> => {
    try {
      return await ready();
    } catch (error) {
      logUnavailable(log, error, 'not ready');
      return 'o banco de dados não responde';
    }
  };
  return async (c: Context<Env>): Promise<Response> => {
    const problem = await look();
    if (problem !== reported) log.info({ reason: problem }, problem === null ? 'ready again' : 'not ready');
    reported = problem;
    if (problem === null) return c.json({ status: 'ok' });
    const { code, headers } = unavailable(null);
    const body = errorBody(new ApiError(code, problem), c.var.requestId);
    return c.json(body, 503, { ...headers });
  };
}

export function answerMetrics({ metrics }: Pick<HttpDeps, 'metrics'>) {
  return async (c: Context<Env>): Promise<Response> => {
    const { text, contentType } = await metrics.expose();
    return c.body(text, 200, { 'Content-Type': contentType });
  };
}

export const LISTEN_PATH = '/ferramentas/listen.mjs';
const FILE = new URL('../../main/listen.mjs', import.meta.url);

export function answerListen() {
  let made: Tagged | null = null;
  return (c: Context<Env>): Response => {
    made ??= tagged(readListen());
    return answerTagged(c, made, 'text/javascript; charset=utf-8', {
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
    });
  };
}

function readListen() {
  try {
    return readFileSync(FILE);
  } catch (error) {
    throw unavailable(new Error('src/main/listen.mjs was not made: run npm run prepare', { cause: error }));
  }
}

/** `describe` is called once for each of the audiences, at the first request. */
export function answerDescription(describe: (audience: Audience) => unknown) {
  const made = new Map<Audience, Tagged>();
  return (c: Context<Env>): Response => {
    const audience = audienceOf(c.req.query('para'));
    const answer = made.get(audience) ?? tagged(Buffer.from(JSON.stringify(describe(audience))));
    made.set(audience, answer);
    return answerTagged(c, answer, 'application/json', {
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'Referrer-Policy': 'no-referrer',
    });
  };
}

function audienceOf(asked = 'parceiro'): Audience {
  const audience = AUDIENCES.find((known) => known === asked);
  if (audience !== undefined) return audience;
  const details = [{ campo: 'para', mensagem: `deve ser um de: ${AUDIENCES.join(', ')}` }];
  throw new ApiError('ERRO_VALIDACAO', INVALID_FIELDS, { details });
}
