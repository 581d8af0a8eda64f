/** What an orchestrator and a monitor ask: alive, ready to serve, in what numbers. No token. */
import type { Context } from 'hono';
import { unavailable } from '../api-error.ts';
import type { Env, HttpDeps } from '../deps.ts';

/** The process runs. */
export function answerAlive(c: Context<Env>): Response {
  c.set('route', '/healthz');
  return c.json({ status: 'ok' });
}

/** The database answers and its migrations are in place; 503 otherwise. */
export function answerReady({ ready }: Pick<HttpDeps, 'ready'>) {
  return async (c: Context<Env>): Promise<Response> => {
    c.set('route', '/readyz');
    let problem: string | null;
    try {
      problem = await ready();
    } catch (error) {
      throw unavailable(error);
    }
    if (problem !== null) throw unavailable(new Error(problem));
    return c.json({ status: 'ok' });
  };
}

/** Prometheus metrics of this process. */
export function answerMetrics({ metrics }: Pick<HttpDeps, 'metrics'>) {
  return async (c: Context<Env>): Promise<Response> => {
    c.set('route', '/metrics');
    const { text, contentType } = await metrics.expose();
    return c.body(text, 200, { 'Content-Type': contentType });
  };
}
