import { expect, test } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import type { HttpDeps } from '../../src/http/deps.ts';
import { createMetrics } from '../../src/metrics.ts';
import { describedAnswers, holdToDescription } from '../support/described-answers.ts';
import type { ApiDescription } from '../support/description.ts';
import { silentLog } from '../support/silent-log.ts';

const deps = { log: silentLog, metrics: createMetrics(), sandbox: true, rateLimitPerMinute: 0, tokens: {} };
const app = createApp({ ...deps, allowInsecure: false } as unknown as HttpDeps);
holdToDescription(app, describedAnswers((await (await app.request('/openapi.json')).json()) as ApiDescription));

/** What a page names: attributes of the markup, and URLs of a style sheet. */
function namedBy(text: string): string[] {
  return [...text.matchAll(/(?:src|href)="([^"]+)"|url\(["']?([^)"']+)/g)].map(([, a, b]) => a ?? b ?? '');
}

test('the page and every file that it names come from this host alone', async () => {
  const page = await app.request('/docs');
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const names = namedBy(await page.text());
  expect(names).toEqual([
    'docs/favicon-32x32.png',
    'docs/swagger-ui.css',
    'docs/page.css',
    'docs/swagger-ui-bundle.js',
    'docs/start.js',
  ]);
  const types = await Promise.all(
    names.map(async (name) => {
      const { status, headers } = await app.request(new URL(name, 'http://carteiro.test/docs').pathname);
      return [status, headers.get('content-type')];
    }),
  );
  expect(types).toEqual([
    [200, 'image/png'],
    [200, 'text/css; charset=utf-8'],
    [200, 'text/css; charset=utf-8'],
    [200, 'text/javascript; charset=utf-8'],
    [200, 'text/javascript; charset=utf-8'],
  ]);
  const styles = namedBy(await (await app.request('/docs/swagger-ui.css')).text());
  expect(styles.filter((name) => !/^(data:|#)/.test(name))).toEqual([]);
  expect(await (await app.request('/docs/start.js')).text()).not.toContain('http');
});

test.each(['/docs', '/docs/swagger-ui-bundle.js', '/openapi.json'])('%s has a policy and a tag', async (path) => {
  const { headers } = await app.request(path);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('cache-control')).not.toContain('no-store');
  const tag = headers.get('etag') ?? '';
  const again = await app.request(path, { headers: { 'If-None-Match': tag } });
  expect([again.status, await again.text()]).toEqual([304, '']);
});

test.each([
  'index.html',
  'package.json',
  'swagger-ui-bundle.js.map',
  '..%2Fpackage.json',
  '%2e%2e%2fpackage.json',
  'swagger-ui.css%00',
  '__proto__',
  'constructor',
])('/docs/%s is no file', async (name) => {
  const answer = await app.request(`/docs/${name}`);
  expect([answer.status, (await answer.json()) as object]).toMatchObject([404, { codigo: 'NAO_ENCONTRADO' }]);
});

test('the page is only read', async () => {
  const answer = await app.request('/docs', { method: 'POST' });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test('GET / tells a program where to go on, and leads a browser to the page', async () => {
  const answer = await app.request('/');
  expect([answer.status, answer.headers.get('vary')]).toEqual([200, 'Accept']);
  const links = (await answer.json()) as Record<string, string>;
  expect(links).toEqual({
    nome: 'Carteiro',
    versao: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    documentacao: '/docs',
    openapi: '/openapi.json',
    saude: '/healthz',
  });
  for (const path of [links['documentacao'], links['openapi'], links['saude']]) {
    expect((await app.request(path as string)).status).toBe(200);
  }
  const browser = await app.request('/', { headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
  expect([browser.status, browser.headers.get('location')]).toEqual([302, 'docs']);
  expect((await app.request('/', { method: 'POST' })).status).toBe(405);
});
