/** A day whose balance closed is kept with the seals that it rests on, until something of that day changes. */
import { beforeEach, expect, test } from 'vitest';
import { addUp } from '../../src/audit/add-up-balance.ts';
import { readBalance } from '../../src/audit/balance.ts';
import { keepDays, readKeptDays, refreshKeptDays } from '../../src/audit/kept-days.ts';
import { addDays, dayOf } from '../../src/contract/calendar.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { commitMarginEvents, insertPartner, insertWebhook } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';

const today = dayOf(new Date());
const [first, second, third] = [addDays(today, -3), addDays(today, -2), addDays(today, -1)] as const;
let database: TestDatabase | undefined;
let partnerId: string;

const sql = () => (database as TestDatabase).sql;
const pool = () => (database as TestDatabase).pool;
const noon = (day: string) => new Date(`${day}T15:00:00Z`);

/** Two days with deliveries that arrived, and a day without any. */
beforeEach(async () => {
  await database?.drop();
  database = await createTestDatabase();
  partnerId = await insertPartner(sql());
  await insertWebhook(sql(), partnerId, 'https://partner.example/', ['margem.falhou']);
  await sql()`insert into webhook_history (webhook_id, partner_id, url, events, active, actor)
              select id, partner_id, url, events, active, 'test' from webhooks`;
  await commitMarginEvents(sql(), partnerId, 3, noon(first));
  await commitMarginEvents(sql(), partnerId, 2, noon(third));
  await end();
});

const end = (status = 'entregue') =>
  sql()`
    with over as (delete from pending)
    update deliveries set status = ${status}, attempts = 1, next_attempt_at = null, finished_at = now() where status = 'pendente'`;

async function seal(): Promise<void> {
  await untilSettled(sql());
  await sealAll(pool());
}

const read = (anew = false) => addUp(readBalance(pool(), first, today, { anew }), first, today, 100);

/** As `audit balance` does. */
async function run() {
  const { seal: newest, still } = await refreshKeptDays(pool());
  const found = await read();
  if (newest !== null) await keepDays(pool(), newest, found, new Date(), still);
  return found;
}

const kept = async () => [...(await readKeptDays(pool(), '', '9')).keys()];

test('a day that is over, closes, and is sealed is kept with its seals; it is answered as it was counted', async () => {
  expect((await run()).guardados).toBeNull();
  expect(await kept()).toEqual([]);
  await seal();
  const counted = await run();
  expect([counted.guardados, counted.fecha, counted.total.entregue]).toEqual([null, true, 5]);
  expect(await kept()).toEqual([first, second, third]);
  const again = await read();
  const [{ number }] = await sql()<[{ number: number }]>`select max(number)::int as number from seals`;
  expect(again).toEqual({ ...counted, guardados: { dias: 3, selo_de: 1, selo_ate: number } });
  // What a kept day cannot show: that is what --anew is for.
  await sql()`delete from deliveries where id = (select id from deliveries limit 1)`;
  expect([(await read()).fecha, (await read(true)).fecha]).toEqual([true, false]);
});

test('a day with something pending or a difference, and today, are not kept', async () => {
  await commitMarginEvents(sql(), partnerId, 1);
  await end();
  await sql()`
    update deliveries set status = 'pendente', next_attempt_at = now(), finished_at = null
    where event_id in (select id from events where occurred_at = ${noon(first)} limit 1)`;
  await sql()`delete from deliveries where event_id = (select id from events where occurred_at = ${noon(third)} limit 1)`;
  await seal();
  await run();
  expect(await kept()).toEqual([second]);
});

test('a day of which a row is not sealed yet is not kept', async () => {
  await seal();
  await commitMarginEvents(sql(), partnerId, 1, noon(first));
  await end();
  await untilSettled(sql());
  await run();
  expect(await kept()).toEqual([second, third]);
});

test.each([
  ['an event that happened then', () => commitMarginEvents(sql(), partnerId, 1, noon(first)).then(() => end())],
  [
    'an order to send one of its deliveries',
    () => sql()`
      insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor)
      select 'reenvio', webhook_id, partner_id, array[id], 'ana' from deliveries d
      where event_id = (select id from events where occurred_at = ${noon(first)} limit 1)`,
  ],
  [
    'a late report of an attempt',
    () => sql()`
      insert into attempts (delivery_id, number, late, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim)
      select id, 1, true, event_id, webhook_id, partner_id, 'entregue', 200, now(), 1, 'https://partner.example/', 'p/1' from deliveries d
      where event_id = (select id from events where occurred_at = ${noon(first)} limit 1)`,
  ],
])('%s has its day counted anew, and no other, before and after it is sealed', async (_, happen) => {
  await seal();
  await run();
  await happen();
  expect(await kept()).toEqual([second, third]);
  await seal();
  expect(await kept()).toEqual([second, third]);
  expect((await run()).guardados?.dias).toBe(2);
  expect(await kept()).toEqual([first, second, third]);
  expect((await read()).linhas).toEqual((await read(true)).linhas);
});

test('a day that stays kept is not written again', async () => {
  await seal();
  await run();
  const written = () => sql()`select day, xmin::text from balance_days order by day`;
  const before = await written();
  await run();
  expect(await written()).toEqual(before);
});

test('days that rest on a seal which the log has lost are counted anew', async () => {
  await seal();
  await run();
  await sql()`update seals set leaf = sha256(leaf) where number = (select max(number) from seals)`;
  expect(await kept()).toEqual([]);
});

test('five years of kept days take a few statements', async () => {
  await seal();
  const [from, to] = [addDays(today, -1_826), third];
  const { seal: newest } = await refreshKeptDays(pool());
  const counted = await addUp(readBalance(pool(), from, to), from, to, 10);
  await keepDays(pool(), newest as NonNullable<typeof newest>, counted, new Date());
  let statements = 0;
  const { run: ask } = pool();
  pool().run = (work) => ((statements += 1), ask.call(pool(), work) as ReturnType<typeof work>);
  const again = await addUp(readBalance(pool(), from, to), from, to, 10);
  expect([again.guardados?.dias, again.total]).toEqual([1_826, counted.total]);
  expect(statements).toBe(1);
});
