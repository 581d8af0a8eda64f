import { expect, test } from 'vitest';
import { startApi } from '../support/api.ts';

const api = await startApi();

test('metrics need no token and name route patterns, never an id', async () => {
  const partner = await api.partner();
  const token = await api.token(partner, ['emprestimos:read']);
  await api.send('GET', `/v1/emprestimos/${partner}`, { token });
  const answer = await api.app.request('/metrics');
  expect(answer.status).toBe(200);
  const text = await answer.text();
  expect(text).toContain('route="/v1/emprestimos/{id}",status="404"');
  expect(text).not.toContain(partner);
});
