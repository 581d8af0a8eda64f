/** What a second schedule takes: one entry of the table, here for the webhooks that a column marks. */
import { expect, test } from 'vitest';
import type { DeliveryResource } from '../../../src/contract/resources/delivery-resource.ts';
import {
  delaysText,
  nextSlot,
  type Schedules,
  SCHEDULES,
  scheduleOf,
  slotsOf,
} from '../../../src/contract/schedule.ts';
import { constantsOf, readMigrationFiles } from '../../../src/db/migrations/migration-files.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startEngine } from '../../support/engine.ts';
import { commitEvent, insertPartner, insertWebhook, readAttempts, readDeliveries } from '../../support/outbox.ts';
import { startReceiver, status } from '../../support/receiver.ts';

const database = await createTestDatabase();

const quick = {
  who: { pt: 'as rápidas', en: 'quick ones' },
  delaysS: [61, 62, 63, 64, 65, 66, 67],
  sql: 'exists (select from webhooks where id = delivery.webhook_id and quick)',
};
const schedules: Schedules = { ...SCHEDULES, usual: { ...quick, isOf: () => true }, rest: SCHEDULES.usual };

test('a webhook on a schedule of its own is retried by it to its end, and another by the usual one', async () => {
  const { pool, sql } = database;
  await sql`alter table webhooks add column quick boolean not null default false`;
  for (const { name, sql: text } of await readMigrationFiles(undefined, undefined, constantsOf(schedules))) {
    if (/(next_slot|is_sound_delivery)\.sql$/.test(name)) await sql.unsafe(text);
  }
  const receiver = await startReceiver();
  receiver.answerWith(status(500));
  const partnerId = await insertPartner(sql);
  const marked = await insertWebhook(sql, partnerId, `${receiver.url}/marked`);
  const other = await insertWebhook(sql, partnerId, `${receiver.url}/other`);
  await sql`update webhooks set quick = true where id = ${marked.id}`;
  await commitEvent(pool, partnerId);
  const engine = startEngine(pool);
  await engine.poll();
  for (const delayS of quick.delaysS) {
    const [pending] = await readDeliveries(sql, marked.id);
    const last = (await readAttempts(sql, pending?.id ?? '')).at(-1);
    const dueAt = Number(pending?.nextAttemptAt);
    const endedAt = Number(last?.startedAt) + Number(last?.durationMs);
    expect(Math.abs(dueAt - endedAt - delayS * 1_000)).toBeLessThanOrEqual(2);
    engine.now = new Date(dueAt + 1);
    await engine.poll();
  }
  const [ended] = await readDeliveries(sql, marked.id);
  expect(ended).toMatchObject({ status: 'erro', failures: 8, attempts: 8 });
  const [usual] = await readDeliveries(sql, other.id);
  expect(usual).toMatchObject({ status: 'pendente', failures: 3 });
});

test('the planned attempts and the number of slots follow from the same entry', () => {
  const asRead = (teste: boolean) => ({ teste, evento: 'averbacao.concluida' }) as DeliveryResource;
  const schedule = scheduleOf(asRead(false), schedules);
  expect([slotsOf(schedule), nextSlot(7, 0, schedule), nextSlot(8, 0, schedule)]).toEqual([8, 67_000, null]);
  expect(scheduleOf(asRead(true), schedules)).toBe(SCHEDULES.test);
  expect(constantsOf(schedules)).toMatchObject({ MOST_FAILURES: '8' });
  expect(delaysText(schedules).en).toMatch(/^quick ones: 1 min 1 s, .*; all others: 1 min, 5 min, 15 min, 1 h, 6 h$/);
  expect(delaysText().pt).toBe('1 min, 5 min, 15 min, 1 h, 6 h');
});
