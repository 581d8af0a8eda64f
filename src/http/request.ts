import type { MiddlewareHandler } from 'hono';
import { inRequestSpan } from '../telemetry/traces.ts';
import { randomUUIDv7 } from 'node:crypto';
import type { Logger } from '../log-lines.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface Sent {
  readonly incoming?: { readonly socket: { resetAndDestroy(): unknown } };
  /** Closes when the answer is out, or the client has gone. */
  readonly outgoing?: { readonly closed: boolean; once(event: 'close', then: () => void): unknown };
}

export type Fetch = (request: Request, sent?: Sent) => Response | Promise<Response>;

export interface Env {
  Bindings: Sent;
  Variables: {
    requestId: string;
    /** The matched route's pattern, `-` before there is one. */
    route: string;
    partnerId: string | null;
    /** Why the token was refused, in words that hold nothing of it. */
    refused?: string;
  };
}

/** Paths that machines ask every few seconds. They belong to no trace, and are no news while all is well. */
const PROBED: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

/** The span of each request continues its `traceparent`, to events and deliveries. It names only the route's pattern. */
export function traceRequests(): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (PROBED.has(c.req.path)) return next();
    await inRequestSpan(c.req.header('traceparent'), async (span) => {
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

/**
 * Gives each request its id and each answer its shared headers, writes one log line, and counts the request. The line holds the
 * route's pattern, never the path, the query or a body: any path may hold a tax id. Probes are logged at debug (one pod's are
 * 50,000 lines a day); readiness is told as it changes (routes/open.ts). A 401 says why the token was refused.
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
