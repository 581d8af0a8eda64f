/** What an orchestrator and a monitor ask: alive, ready to serve, in what numbers. No token. */
import type { Context } from 'hono';
import { unavailable } from '../api-error.ts';
import type { HttpDeps } from '../deps.ts';
import type { Env } from '../request-env.ts';

/** The process runs. */
export function answerAlive(c: Context<Env>): Response {
  return c.json({ status: 'ok' });
}

/** The database answers, takes writes and has its migrations; otherwise 503, whose `mensagem` says what is missing. */
export function answerReady({ ready }: Pick<HttpDeps, 'ready'>) {
  return async (c: Context<Env>): Promise<Response> => {
    let problem: string | null;
    try {
      problem = await ready();
    } catch (error) {
      throw unavailable(error, 'o banco de dados não responde');
    }
    if (problem !== null) throw unavailable(new Error(problem), problem);
    return c.json({ status: 'ok' });
  };
}

/** Prometheus metrics of this process. */
export function answerMetrics({ metrics }: Pick<HttpDeps, 'metrics'>) {
  return async (c: Context<Env>): Promise<Response> => {
    const { text, contentType } = await metrics.expose();
    return c.body(text, 200, { 'Content-Type': contentType });
  };
}
