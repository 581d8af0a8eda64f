/** What an orchestrator and a monitor ask: alive, ready to serve, in what numbers. No token. */
import type { Context } from 'hono';
import { logUnavailable } from '../../db/outage-log.ts';
import { ApiError, unavailable } from '../api-error.ts';
import type { HttpDeps } from '../deps.ts';
import { errorBody } from '../errors.ts';
import type { Env } from '../request-env.ts';

export function answerAlive(c: Context<Env>): Response {
  return c.json({ status: 'ok' });
}

/** 503 unless the database answers, takes writes and is migrated; `mensagem` says what is missing. Logged as it changes. */
export function answerReady({ ready, log }: Pick<HttpDeps, 'ready' | 'log'>) {
  let told: string | null = null;
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
    if (problem !== told) log.info({ reason: problem }, problem === null ? 'ready again' : 'not ready');
    told = problem;
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
