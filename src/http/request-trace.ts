import type { MiddlewareHandler } from 'hono';
import { inRequestSpan } from '../telemetry/traces.ts';
import type { Env } from './request-env.ts';

/** Paths that machines ask every few seconds. They belong to no trace, and are no news while all is well. */
export const PROBED: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

/** The span of each request goes on from its `traceparent`, to events and deliveries. It holds the route's pattern only. */
export function traceRequests(): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (PROBED.has(c.req.path)) return next();
    await inRequestSpan('request', c.req.header('traceparent'), async (span) => {
      await next();
      if (!span.isRecording()) return;
      const { route, requestId } = c.var;
      span.updateName(`${c.req.method} ${route}`);
      span.setAttributes({
        'http.request.method': c.req.method,
        'http.route': route,
        'http.response.status_code': c.res.status,
        'carteiro.requisicao_id': requestId,
      });
    });
  };
}
