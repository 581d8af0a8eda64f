/** What the log of attempts says after a delivery to every hostile receiver. */
import { afterAll, expect, test } from 'vitest';
import { createSender } from '../../../src/delivery/sending/send.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startEngine } from '../../support/engine.ts';
import { type HostileReceiver, startHostileFarm } from '../../support/hostile-farm.ts';
import { commitEvent, insertPartner, insertWebhook } from '../../support/outbox.ts';

/** A receiver that answers may be slow on a busy machine; one that never does is waited for in full. */
const LONG_MS = 120_000;
const SHORT_MS = 1_000;
const [database, farm] = await Promise.all([createTestDatabase(), startHostileFarm()]);
afterAll(() => farm.close());

test('each has one attempt with its resultado, and each failure a next one', async () => {
  const { pool, sql } = database;
  const hangs = ({ expected: [first] }: HostileReceiver) => first?.outcome === 'tempo_esgotado';
  await sendToAll(
    farm.receivers.filter((receiver) => !hangs(receiver)),
    LONG_MS,
  );
  await sendToAll(farm.receivers.filter(hangs), SHORT_MS);

  const rows = await sql<{ url: string; text: string }[]>`
    select w.url, concat_ws(' ', a.outcome, a.status_code, d.status) as text
    from attempts a join webhooks w on w.id = a.webhook_id join deliveries d on d.id = a.delivery_id`;
  expect(rows).toHaveLength(farm.receivers.length);
  const textOf = new Map(rows.map(({ url, text }) => [url, text]));
  expect(farm.receivers.map(({ name, url }) => `${name}: ${textOf.get(url)}`)).toEqual(
    farm.receivers.map(({ name, expected: [first] }) => {
      const status = first?.outcome === 'entregue' ? 'entregue' : 'pendente';
      return `${name}: ${[first?.outcome, first?.statusCode, status].filter((part) => part !== null).join(' ')}`;
    }),
  );

  async function sendToAll(receivers: readonly HostileReceiver[], timeoutMs: number): Promise<void> {
    const partnerId = await insertPartner(sql);
    for (const { url } of receivers) await insertWebhook(sql, partnerId, url);
    await commitEvent(pool, partnerId);
    const sender = createSender({ allowInsecure: true, timeoutMs, tls: { ca: farm.ca } });
    const engine = startEngine(pool, { sender, capacity: 512 });
    while ((await engine.poll()) > 0);
    await engine.close();
    await sender.close();
  }
});
