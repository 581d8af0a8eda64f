/** A deactivated partner is sent nothing, however it is deactivated: here by the operator's plain UPDATE. */
import { beforeEach, expect, test } from 'vitest';
import { TIMES_S } from '../../../src/contract/delivery.ts';
import type { Sql } from '../../../src/db/pool.ts';
import { pollLanes } from '../../support/poll.ts';
import { startDeliveryWorld } from '../../support/delivery-world.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents, insertPartner, readDeliveries } from '../../support/outbox.ts';
import { status } from '../../support/receiver.ts';

let now: Date;

const { pool, sql, partnerId, webhookId } = await useOneWebhook();
beforeEach(() => {
  now = new Date(Date.now() + 1_000);
});

const deactivate = (tx: Sql = sql) => tx`update partners set active = false where id = ${partnerId}`;
const activate = () => sql`update partners set active = true where id = ${partnerId}`;
const statuses = async () => (await readDeliveries(sql, webhookId)).map((row) => row.status);

test('what is pending is suspended in the deactivating transaction, and is pending again if that is undone', async () => {
  await commitEvents(sql, partnerId, 3);
  await sql`update deliveries set next_attempt_at = now() + interval '6 hours' where webhook_id = ${webhookId}`;
  let seen: string[] = [];
  const undoing = sql.begin(async (tx) => {
    await deactivate(tx as unknown as Sql);
    seen = (await readDeliveries(tx as unknown as Sql, webhookId)).map((row) => row.status);
    throw new Error('undone');
  });
  await expect(undoing).rejects.toThrow('undone');
  expect(seen).toEqual(['suspensa', 'suspensa', 'suspensa']);
  expect(await statuses()).toEqual(['pendente', 'pendente', 'pendente']);
  await deactivate();
  expect(await statuses()).toEqual(['suspensa', 'suspensa', 'suspensa']);
});

test('other partners, and changes that deactivate nobody, suspend nothing', async () => {
  await commitEvents(sql, partnerId, 1);
  const other = await insertPartner(sql);
  await sql`update partners set active = false where id = ${other}`;
  await sql`update partners set active = true, name = 'Outro nome' where id = ${partnerId}`;
  expect(await statuses()).toEqual(['pendente']);
});

test('what is appended for a partner that is deactivated already is a fact without deliveries, then and later', async () => {
  await deactivate();
  await commitEvents(sql, partnerId, 1);
  expect(await sql`select type from events where partner_id = ${partnerId}`).toHaveLength(1);
  await activate();
  expect(await pollLanes(pool, 'p/1', 10, now)).toEqual([]);
  expect(await statuses()).toEqual([]);
});

test('what was claimed and lost when its partner was deactivated leaves its row and is suspended', async () => {
  await commitEvents(sql, partnerId, 1);
  await pollLanes(pool, 'dead/1', 10, now);
  await deactivate();
  const later = new Date(now.getTime() + (TIMES_S.lease + 1) * 1_000);
  expect(await pollLanes(pool, 'p/1', 10, later)).toEqual([]);
  expect(await statuses()).toEqual(['suspensa']);
  expect(await sql`select outcome from attempts where webhook_id = ${webhookId}`).toEqual([
    { outcome: 'desconhecido' },
  ]);
});

test('re-activated, what was suspended stays so until the partner resumes it; what is new is sent', async () => {
  await commitEvents(sql, partnerId, 2);
  await deactivate();
  await activate();
  expect(await pollLanes(pool, 'p/1', 10, now)).toEqual([]);
  await commitEvents(sql, partnerId, 1);
  expect(await pollLanes(pool, 'p/2', 10, now)).toHaveLength(1);
  expect((await statuses()).toSorted()).toEqual(['pendente', 'suspensa', 'suspensa']);
});

test('over the wire: tokens are refused, not one POST leaves, and PATCH with retomar sends it all later', async () => {
  const world = await startDeliveryWorld();
  const partner = await world.subscriber();
  const webhook = await partner.register();
  const { sql: operator } = world.api.database;
  world.receiver.answerWith(status(500), webhook.path);
  await partner.emit();
  await world.deliver();
  expect(world.postsTo(webhook.path)).toHaveLength(1);
  await partner.emit();
  await operator`update partners set active = false where id = ${partner.id}`;
  expect((await partner.send('GET', '/v1/webhooks')).status).toBe(401);
  await world.deliver();
  expect(world.postsTo(webhook.path)).toHaveLength(1);

  world.receiver.answerWith(status(200), webhook.path);
  await operator`update partners set active = true where id = ${partner.id}`;
  await world.deliver();
  expect(world.postsTo(webhook.path)).toHaveLength(1);
  const resumed = await partner.send('PATCH', `/v1/webhooks/${webhook.id}`, { ativo: true, retomar: true });
  expect(resumed.status).toBe(200);
  await world.deliver();
  expect(world.postsTo(webhook.path)).toHaveLength(3);
  const [left] = await operator`select count(*)::int as n from deliveries where status <> 'entregue'`;
  expect(left).toEqual({ n: 0 });
});
