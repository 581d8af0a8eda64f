import { expect, test } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import type { HttpDeps } from '../../src/http/deps.ts';
import { silentLog } from '../support/silent-log.ts';

function documentOf(sandbox: boolean) {
  const deps = { log: silentLog, sandbox, rateLimitPerMinute: 0, tokens: {}, allowInsecure: false };
  const app = createApp(deps as unknown as HttpDeps);
  return app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 'Carteiro', version: '1' } });
}

test('every operation is in the OpenAPI document, the sandbox only where it exists', () => {
  const paths = Object.keys(documentOf(false).paths ?? {});
  expect(paths).toEqual(expect.arrayContaining(['/v1/webhooks', '/v1/emprestimos', '/v1/emprestimos/{id}/averbacao']));
  expect(paths.filter((path) => path.startsWith('/v1/sandbox'))).toEqual([]);
  expect(Object.keys(documentOf(true).paths ?? {})).toContain('/v1/sandbox/tempo');
});

test('an operation tells its scope, its key and its refusals', () => {
  const operation = documentOf(false).paths?.['/v1/webhooks']?.post;
  expect(operation?.security).toEqual([{ bearer: ['webhooks:write'] }]);
  expect(Object.keys(operation?.responses ?? {})).toEqual(
    expect.arrayContaining(['201', '400', '401', '403', '409', '413', '415', '422', '429', '500', '503']),
  );
  expect(JSON.stringify(operation?.responses?.['409'])).toContain('LIMITE_DE_WEBHOOKS');
});
