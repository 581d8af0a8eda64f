/** Until its URL has answered 2xx once, a webhook gets one delivery at a time, over all pollers, and later one a minute. */
import { beforeEach, expect, test } from 'vitest';
import type { WebhookHealthResource } from '../../../src/contract/resources/webhook-health.ts';
import { startDeliveryWorld, useSubscriber } from '../../support/delivery-world.ts';
import { status } from '../../support/receiver.ts';

const world = await startDeliveryWorld();
const { partner, webhook } = useSubscriber(world);
const { sql } = world.api.database;

beforeEach(() => sql`update webhooks set refusals = 0 where id = ${webhook.id}`);

const stateOf = async () =>
  (
    await sql<{ refusals: number | null; quietS: number | null }[]>`
    select refusals, extract(epoch from quiet_until - now())::float8 as "quietS" from webhooks where id = ${webhook.id}`
  )[0];

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
