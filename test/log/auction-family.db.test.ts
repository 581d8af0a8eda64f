/** The two API families: the auction's envelope has no parceiro_id in its root, and everything else is the same. */
import { randomUUID } from 'node:crypto';
import { verify } from '@octokit/webhooks-methods';
import { expect, test } from 'vitest';
import type { ApiFamily } from '../../src/contract/delivery.ts';
import { append } from '../../src/log/append.ts';
import { createTestDatabase } from '../support/database.ts';
import { startEngine } from '../support/engine.ts';
import { insertPartner, insertWebhook } from '../support/outbox.ts';
import { startReceiver } from '../support/receiver.ts';

test('an event of the auction family arrives without parceiro_id, with the same headers', async () => {
  const database = await createTestDatabase();
  const receiver = await startReceiver();
  const engine = startEngine(database.pool);
  const partnerId = await insertPartner(database.sql);
  const webhook = await insertWebhook(database.sql, partnerId, `${receiver.url}/`);
  const stream = randomUUID();
  const data = { emprestimo_id: stream, numero_emprestimo: '2026-00000001', motivo: 'conta encerrada' };
  const occurredAt = new Date('2026-01-31T12:00:00.000Z');
  for (const [expectedVersion, family] of (['backoffice', 'leilao'] satisfies ApiFamily[]).entries()) {
    const facts = [{ type: 'desembolso.falhou', data } as const];
    const place = { stream, expectedVersion, facts, occurredAt, family };
    await database.pool.transaction((tx) => append(tx, { ...place, partnerId, actor: 'leilao', requestId: null }));
    while ((await engine.poll()) > 0);
  }
  const [backoffice, auction] = receiver.posts;
  const envelope = { evento: 'desembolso.falhou', timestamp: '2026-01-31T12:00:00.000Z' };
  expect(backoffice?.body.toString()).toBe(JSON.stringify({ ...envelope, parceiro_id: partnerId, data }));
  expect(auction?.body.toString()).toBe(JSON.stringify({ ...envelope, data }));
  expect(Object.keys(auction?.headers ?? {})).toEqual(Object.keys(backoffice?.headers ?? {}));
  expect(auction?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-webhook-event': 'desembolso.falhou',
    'x-webhook-delivery': expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  const signature = String(auction?.headers['x-webhook-signature']);
  expect(await verify(webhook.secret, auction?.body.toString() ?? '', signature)).toBe(true);
  const rows = await database.sql`select status from deliveries`;
  expect(rows).toEqual([{ status: 'entregue' }, { status: 'entregue' }]);
});
