import type { MiddlewareHandler } from 'hono';
import type { Logger } from '../log-lines.ts';
import type { Env } from './deps.ts';
import { newRequestId } from './request-id.ts';

/**
 * Gives each request its id and one log line. The line holds the route's pattern and never the path, the query or a
 * body: a path that nobody routes may hold anything, a tax id included.
 */
export function logRequests(log: Logger): MiddlewareHandler<Env> {
  return async (c, next) => {
    const startedAt = performance.now();
    const requestId = newRequestId();
    c.set('requestId', requestId);
    c.set('route', '-');
    c.set('partnerId', null);
    await next();
    c.res.headers.set('X-Request-Id', requestId);
    c.res.headers.set('Cache-Control', 'no-store');
    log.info(
      {
        method: c.req.method,
        route: c.var.route,
        status: c.res.status,
        duration_ms: Math.round(performance.now() - startedAt),
        requisicao_id: requestId,
        parceiro_id: c.var.partnerId,
      },
      'request',
    );
  };
}
