/** A conformance run obeys the rules of targets in the real process, as deliveries do. */
import { createServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import type { Conformance } from '../../src/contract/conformance.ts';
import { callCommand, sandboxOn, startServing } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook } from '../support/poller-process.ts';

test('an address inside is not connected to, and the run tells why', async () => {
  const { sql, url } = await createTestDatabase();
  const inside = createServer().listen(0, '127.0.0.1');
  await vi.waitUntil(() => inside.listening, 300_000);
  let connections = 0;
  inside.on('connection', (socket) => {
    connections += 1;
    socket.destroy();
  });
  const { port } = inside.address() as { port: number };
  const partnerId = await insertPartner(sql);
  const { id } = await insertEncryptedWebhook(sql, partnerId, `https://127.0.0.1:${port}/`);
  const env = sandboxOn(url, { ALLOW_INSECURE_TARGETS: 'false' });
  const api = await startServing('api', env);
  const words = ['token', '--partner', partnerId, '--scope', 'webhooks:read webhooks:write'];
  const token = (await callCommand(words, env)).stdout.trim();
  const ask = async (method: string, path: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${api.url}/v1/webhooks/${id}/homologacao${path}`, { method, headers })).json();
  };
  const { homologacao_id: run } = (await ask('POST', '')) as { homologacao_id: string };
  const over = await vi.waitUntil(
    async () => {
      const found = (await ask('GET', `/${run}`)) as Conformance;
      return found.estado === 'em_andamento' ? null : found;
    },
    { timeout: 300_000 },
  );
  expect(over.estado).toBe('reprovada');
  expect(over.verificacoes[0]).toMatchObject({ codigo: 'propria', resultado: 'falhou' });
  expect(connections).toBe(0);
  await api.end('SIGTERM');
  inside.close();
});
