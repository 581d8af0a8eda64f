import { randomUUIDv7 } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type { Logger } from '../log-lines.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Env } from './request-env.ts';
import { PROBED } from './request-trace.ts';

/**
 * Gives each request its id and each answer its shared headers, writes one log line, and counts the request. The line holds the
 * route's pattern, never the path, the query or a body: any path may hold a tax id. Probes are logged at debug (one pod's are
 * 50,000 lines a day); readiness is told as it changes (routes/health.ts). A 401 says why the token was refused.
 */
export function logRequests(log: Logger, metrics: Metrics): MiddlewareHandler<Env> {
  return async (c, next) => {
    const startedAt = performance.now();
    const requestId = randomUUIDv7();
    c.set('requestId', requestId);
    c.set('route', '-');
    c.set('partnerId', null);
    await next();
    c.res.headers.set('X-Request-Id', requestId);
    c.res.headers.set('X-Content-Type-Options', 'nosniff');
    if (!c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', 'no-store');
    const durationMs = performance.now() - startedAt;
    metrics.observeRequest(c.req.method, c.var.route, c.res.status, durationMs / 1_000);
    log[PROBED.has(c.var.route) ? 'debug' : 'info'](
      {
        method: c.req.method,
        route: c.var.route,
        status: c.res.status,
        duration_ms: Math.round(durationMs),
        requisicao_id: requestId,
        parceiro_id: c.var.partnerId,
        ...(c.var.refused !== undefined && { refused: c.var.refused }),
      },
      'request',
    );
  };
}
