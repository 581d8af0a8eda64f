/** Until its URL has answered 2xx once, a webhook gets one delivery at a time, over all pollers, and later one a minute. */
import { beforeEach, expect, test } from 'vitest';
import type { WebhookHealthResource } from '../../../src/contract/resources/webhook-health.ts';
import { startEngine } from '../../support/engine.ts';
import { startDeliveryWorld, useSubscriber } from '../../support/delivery-world.ts';
import { hang, status } from '../../support/receiver.ts';

const world = await startDeliveryWorld();
const { partner, webhook } = useSubscriber(world);
const { pool, sql } = world.api.database;

beforeEach(() => sql`update webhooks set refusals = 0 where id = ${webhook.id}`);

const openSecret = (id: string, sealed: Buffer) => world.api.vault.decrypt(id, sealed);
const stateOf = async () =>
  (
    await sql<{ refusals: number | null; quietS: number | null }[]>`
    select refusals, extract(epoch from quiet_until - now())::float8 as "quietS" from webhooks where id = ${webhook.id}`
  )[0];

test('one is in flight over three pollers, and eight once it has answered', async () => {
  world.receiver.answerWith(hang(), webhook.path);
  for (let count = 0; count < 12; count += 1) await partner.emit();
  const engines = Array.from({ length: 3 }, () => startEngine(pool, { openSecret, now: () => null }));
  let claimed = 0;
  for (const { poller } of [...engines, ...engines]) claimed += await poller.tick();
  expect(claimed).toBe(1);
  await world.receiver.received(1);
  world.receiver.answerWith(status(200), webhook.path);
  world.receiver.closeConnections();
  for (const engine of engines) await engine.close();
  expect(await stateOf()).toMatchObject({ refusals: 1 });
  await world.deliver();
  expect(await stateOf()).toEqual({ refusals: null, quietS: null });
  expect(world.postsTo(webhook.path).length).toBeGreaterThanOrEqual(12);
});

test('behind ten failures one leaves in a minute, and says why it waits', async () => {
  world.receiver.answerWith(status(404), webhook.path);
  for (let count = 0; count < 15; count += 1) await partner.emit();
  await world.deliver();
  expect(world.postsTo(webhook.path)).toHaveLength(10);
  const { refusals, quietS } = (await stateOf()) ?? {};
  expect([refusals, (quietS ?? 0) > 0, (quietS ?? 99) <= 60]).toEqual([10, true, true]);
  await sql`insert into processes (name, role, host, version, keys) values ('p', 'poller', 'h', '1', '{}')`;
  const [waiting] = await sql<[{ id: string }]>`
    select id from deliveries where webhook_id = ${webhook.id} and attempts = 0 order by id limit 1`;
  expect((await partner.send('GET', `/v1/entregas/${waiting.id}/espera`)).body).toMatchObject({
    motivo: 'sem_consentimento',
    explicacao: expect.stringContaining('em 10 tentativas: recebe uma por minuto') as string,
  });

  const health = await partner.send<WebhookHealthResource>('GET', `/v1/webhooks/${webhook.id}/saude`);
  expect(health.body.sem_consentimento).toEqual({ recusas: 10, proxima_entrega_em: expect.any(String) as string });

  // The minute is over: one more, and then the next minute.
  await sql`update webhooks set quiet_until = now() where id = ${webhook.id}`;
  await world.deliver();
  expect(world.postsTo(webhook.path)).toHaveLength(11);

  world.receiver.answerWith(status(200), webhook.path);
  await sql`update webhooks set quiet_until = now() where id = ${webhook.id}`;
  await world.deliver();
  expect(await stateOf()).toEqual({ refusals: null, quietS: null });
  expect(world.postsTo(webhook.path)).toHaveLength(15);
  const after = await partner.send<WebhookHealthResource>('GET', `/v1/webhooks/${webhook.id}/saude`);
  expect(after.body.sem_consentimento).toBeNull();
});

test('a new URL begins again, and what the old one answers says nothing of it', async () => {
  await partner.emit();
  await world.deliver();
  expect(await stateOf()).toMatchObject({ refusals: null });
  let answer = (): void => undefined;
  world.receiver.answerWith((_post, response) => (answer = () => void response.writeHead(200).end()), webhook.path);
  await partner.emit();
  const { poller } = startEngine(pool, { openSecret, now: () => null });
  await poller.tick();
  await world.receiver.received(2);
  await partner.send('PATCH', `/v1/webhooks/${webhook.id}`, { url: `${webhook.url}/novo` });
  answer();
  await poller.settled();
  expect(await stateOf()).toMatchObject({ refusals: 0 });
  await partner.send('PATCH', `/v1/webhooks/${webhook.id}`, {
    url: `${webhook.url}/novo`,
    eventos: ['desembolso.falhou'],
  });
  await partner.emit();
  await world.deliver();
  expect(await stateOf()).toMatchObject({ refusals: null });
});
