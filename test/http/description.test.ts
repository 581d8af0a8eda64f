import { expect, test } from 'vitest';
import { createBareApp, describedBy } from '../support/bare-app.ts';
import { describedAnswers, holdToDescription } from '../support/described-answers.ts';

const app = createBareApp();
holdToDescription(app, describedAnswers(await describedBy(app)));

test('the description has a policy and a tag', async () => {
  const { headers } = await app.request('/openapi.json');
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/https?:|\*|unsafe/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('cache-control')).not.toContain('no-store');
  const tag = headers.get('etag') ?? '';
  const again = await app.request('/openapi.json', { headers: { 'If-None-Match': tag } });
  expect([again.status, await again.text()]).toEqual([304, '']);
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
  for (const path of [links['openapi'], links['saude']]) {
    expect((await app.request(path as string)).status).toBe(200);
  }
  const browser = await app.request('/', { headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
  expect([browser.status, browser.headers.get('location')]).toEqual([302, 'painel']);
  expect((await app.request('/', { method: 'POST' })).status).toBe(405);
});
