/** The API without a database or keys: it describes itself, and answers what needs neither. */
import { createApp } from '../../src/http/app.ts';
import type { HttpDeps } from '../../src/http/deps.ts';
import { sandboxRoutes } from '../../src/http/routes/sandbox.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import type { ApiDescription } from './description.ts';
import { silentLog } from './silent-log.ts';

export function createBareApp({ isSandbox = true, allowInsecure = false } = {}) {
  const deps = {
    log: silentLog,
    metrics: createMetrics(),
    sandbox: isSandbox ? sandboxRoutes : null,
    rateLimitPerMinute: 0,
    tokens: {},
    allowInsecure,
  };
  return createApp(deps as unknown as HttpDeps);
}

export const describedBy = async (app: ReturnType<typeof createBareApp>) =>
  (await (await app.request('/openapi.json?para=tudo')).json()) as ApiDescription;
