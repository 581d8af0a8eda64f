/** What partners ask for never reads a hot table from end to end, also with the generic plans of a busy pool. */
import { expect, test } from 'vitest';
import { DELIVERY_STATUSES } from '../../../src/contract/statuses.ts';
import { readDeliveries, readDelivery } from '../../../src/delivery/partner/read-deliveries.ts';
import { resendMany } from '../../../src/delivery/partner/resend.ts';
import { leaveToResume, resumeWhile, suspendWhile } from '../../../src/delivery/partner/activation.ts';
import { readFeed } from '../../../src/log/feed.ts';
import { createTestDatabase } from '../../support/database.ts';
import { commitEvent, commitEvents, insertPartner, insertSubscriber, insertWebhook } from '../../support/outbox.ts';
import { startCounting } from '../../support/counters.ts';
import { untilSettled } from '../../support/settled.ts';
import { ALL_DELIVERIES } from '../../support/searches.ts';

const TURNS = 8;

test('lists, one delivery, resends, suspension, resumption and the feed go by their indexes', async () => {
  const { url, pool, sql } = await createTestDatabase();
  const busy = await insertPartner(sql);
  for (let count = 0; count < 20; count += 1) await insertWebhook(sql, busy, 'https://busy.example/');
  await commitEvents(sql, busy, 500);
  await sql`
    insert into events (stream, version, type, partner_id, data, occurred_at, actor, fan_out, seen)
    select gen_random_uuid(), 1, 'desembolso.falhou', ${busy}, '{}', now(), 'test', 0, pg_current_snapshot()
    from generate_series(1, 10000)`;
  await sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, duration_ms, url, claim)
    select id, 1, webhook_id, partner_id, 'erro_conexao', now(), 1, 'https://busy.example/', 'old' from deliveries`;
  const { partnerId, id: webhookId } = await insertSubscriber(sql);
  await commitEvents(sql, partnerId, 40);
  const loanId = await commitEvent(pool, partnerId);
  await sql`analyze`;
  const counting = await startCounting(url);

  const author = { actor: 'test', requestId: null };
  const search = {
    partnerId,
    webhookIds: [webhookId],
    ...ALL_DELIVERIES,
    limit: 5,
  };
  for (let poll = 0; poll < TURNS; poll += 1) {
    const { deliveries } = await readDeliveries(pool, search);
    expect(deliveries).toHaveLength(5);
    expect((await readDeliveries(pool, { ...search, loanId })).deliveries).toHaveLength(1);
    await readDeliveries(pool, { ...search, status: 'erro', from: new Date(0), until: new Date() });
    await readDeliveries(pool, { ...search, status: 'entregue', event: 'desembolso.falhou' });
    expect(await readDelivery(pool, partnerId, deliveries[0]?.id as string)).not.toBeNull();
    await readFeed(pool, {
      partnerId,
      event: poll % 2 === 0 ? null : 'desembolso.falhou',
      after: null,
      limit: 5,
      history: poll % 3 === 0,
    });
    const many = {
      partnerId,
      webhookId,
      from: new Date(0),
      until: new Date(Date.now() + 1_000),
      statuses: DELIVERY_STATUSES,
      events: null,
      after: null,
      author,
    };
    const resent = await resendMany(pool, { ...many, simulate: poll % 2 === 0 }, Infinity);
    expect(resent).toMatchObject({ ok: { count: 41 } });
    await sql`update webhooks set active = false where id = ${webhookId}`;
    await suspendWhile(pool, webhookId, Infinity);
    await sql`update webhooks set active = true where id = ${webhookId}`;
    await pool.transaction((tx) => leaveToResume(tx, webhookId));
    expect(await resumeWhile(pool, webhookId, author, Infinity)).toEqual({ ok: 'resumed' });
  }
  await pool.close();
  expect(await counting.readFromEndToEnd(['deliveries', 'attempts', 'events'])).toEqual([]);
});

test('the feed finds the webhooks of its partner among those of all, deactivated ones included', async () => {
  const { url, pool, sql } = await createTestDatabase();
  const { partnerId } = await insertSubscriber(sql);
  const other = await insertPartner(sql);
  await sql`
    insert into webhooks (id, partner_id, url, events, encrypted_secret, active)
    select uuidv7(), ${other}, 'https://other.example/', '{desembolso.falhou}', '', false from generate_series(1, 3000)`;
  await commitEvents(sql, partnerId, 40);
  await untilSettled(sql);
  await sql`analyze`;
  const counting = await startCounting(url);
  for (let poll = 0; poll < TURNS; poll += 1) {
    const { events } = await readFeed(pool, { partnerId, event: null, after: null, limit: 5, history: false });
    expect(events.map(({ deliveries }) => deliveries.length)).toEqual([1, 1, 1, 1, 1]);
  }
  await pool.close();
  expect(await counting.readFromEndToEnd(['webhooks'])).toEqual([]);
});
