/** Writes /openapi.json, and the types that openapi-typescript makes of it for the partner's program: `npm run check` and its test run it. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import openapiTS, { astToString, COMMENT_HEADER, type OpenAPI3 } from 'openapi-typescript';
import { createApp } from '../../src/http/app.ts';
import type { HttpDeps } from '../../src/http/deps.ts';
import { sandboxRoutes } from '../../src/http/routes/sandbox.ts';
import { createLogger } from '../../src/log-lines.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

const log = createLogger('silent');
const deps = {
  log,
  metrics: createMetrics(),
  sandbox: sandboxRoutes,
  allowInsecure: true,
  rateLimitPerMinute: 0,
  tokens: {},
};
const app = createApp(deps as unknown as HttpDeps);
// What is wrong with an operation, rather than an answer 500 without its reason.
app.onError((error) => {
  throw error;
});
const answer = await app.request('/openapi.json');
const text = await answer.text();
const types = astToString(await openapiTS(JSON.parse(text) as OpenAPI3));
const folder = path.join(import.meta.dirname, 'generated');
await mkdir(folder, { recursive: true });
await writeFile(path.join(folder, 'openapi.ts'), COMMENT_HEADER + types);
await writeFile(path.join(folder, 'openapi.json'), text);
