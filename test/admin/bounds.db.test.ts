/**
 * What operators read looks at a bounded number of rows, however many there are, analysed or not: counted by the server for each
 * table, whether a scan or an index led to them.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Tx } from '../../src/db/pool.ts';
import { isPartner, listPartners, readPartner } from '../../src/admin/partners.ts';
import { readBounded } from '../../src/admin/bounds.ts';
import { listFailing, withFailures } from '../../src/admin/failures.ts';
import { countDeliveries, listWebhooks, readLines, readWebhook } from '../../src/admin/webhooks.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertPartner, insertSubscriber, insertWebhook } from '../support/outbox.ts';
import { rowsScanned } from '../support/counters.ts';

/** One partner with 5,000 webhooks, one of which has 200,000 deliveries and 20,000 lines of history; 3,000 other partners. */
const database = await createTestDatabase();
const { sql } = database;
const { partnerId, id: webhookId } = await insertSubscriber(sql);
await sql`
    insert into webhooks (id, partner_id, url, events, encrypted_secret)
    select uuidv7(), partner_id, url, events, encrypted_secret from webhooks, generate_series(1, 4999)`;
await sql`insert into partners (name, active) select 'Outro ' || n, n % 10 <> 0 from generate_series(1, 3000) n`;
const otherId = await insertPartner(sql);
await sql`
    insert into deliveries (event_id, webhook_id, partner_id, status, next_attempt_at, finished_at)
    select uuidv7(), ${webhookId}, ${partnerId}, status, case when status = 'pendente' then now() + n * interval '1 second' end,
           case when status in ('erro', 'entregue') then now() end
    from generate_series(1, 50000) n, unnest('{pendente,suspensa,erro,entregue}'::text[]) status`;
await sql`
    insert into pending (webhook_id, delivery_id, event_id, partner_id, due_at)
    select webhook_id, id, event_id, partner_id, next_attempt_at from deliveries where status = 'pendente'`;
await sql`
    insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor, reason)
    select ${webhookId}, ${partnerId}, 'https://partner.example/', '{}', true, 'limite', 'test', n::text
    from generate_series(1, 20000) n`;
await sql`
    insert into partner_history (partner_id, name, active, signing, documents, issuance, change, actor, reason)
    select id, name, active, signing, documents, issuance, 'alteracao', 'test', n::text
    from partners, generate_series(1, 20000) n where id = ${partnerId}`;
await sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim)
    select gen_random_uuid(), 1, ${webhookId}, ${partnerId}, outcome, case outcome when 'entregue' then 200 end, now(), 1, 'https://partner.example/', 'old/1'
    from generate_series(1, 30000), unnest('{erro_conexao,entregue}'::text[]) outcome`;
await sql`
    update lanes set muted_at = now()
    where webhook_id in (select id from webhooks order by id desc limit 150)`;

describe.each(['never analysed', 'analysed'])('on tables %s', (statistics) => {
  beforeAll(async () => {
    if (statistics === 'analysed') await sql`analyze`;
  });

  test.each<[string, number, (tx: Tx) => Promise<unknown>]>([
    ['the counts of a webhook', 31_000, (tx) => countDeliveries(tx, webhookId)],
    ['a webhook with its history', 32_000, (tx) => readWebhook(tx, webhookId)],
    ['older lines of its history', 32_000, (tx) => readWebhook(tx, webhookId, '10000')],
    ['a partner with its webhooks and history', 2_000, (tx) => readPartner(tx, partnerId)],
    ['whether there is a partner', 10, (tx) => isPartner(tx, partnerId)],
    ['a page of all webhooks', 1_000, (tx) => listWebhooks(tx, {})],
    ['a page of a partner’s', 1_000, (tx) => listWebhooks(tx, { partnerId })],
    ['a page of the muted ones', 1_000, (tx) => listWebhooks(tx, { state: 'muted' })],
    ['a page of the falhando ones', 1_000, (tx) => listWebhooks(tx, { state: 'falhando' })],
    ['a page of the inactive ones, of which there are none', 12_000, (tx) => listWebhooks(tx, { state: 'inactive' })],
    ['the webhooks that failed', 21_000, (tx) => listFailing(tx, undefined)],
    ['the webhooks that failed of a partner, beside its outage', 21_000, (tx) => listFailing(tx, partnerId)],
    ['the webhooks that failed of another partner', 11_000, (tx) => listFailing(tx, otherId)],
    [
      'how often a page of webhooks failed',
      22_000,
      async (tx) => withFailures(tx, (await listWebhooks(tx, {})).rows, undefined),
    ],
    [
      'how often a webhook failed, beside its outage',
      21_000,
      async (tx) => withFailures(tx, await readLines(tx, [webhookId]), partnerId),
    ],
    ['a page of partners', 2_500, (tx) => listPartners(tx, false)],
    ['a page of inactive partners', 5_000, (tx) => listPartners(tx, true)],
  ])('%s looks at no more than %i rows', async (name, bound, read) => {
    const rows = await rowsScanned(database.url, (pool) => readBounded(pool, read));
    if (process.env['TELL']) console.log(statistics, name, rows);
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThan(bound);
  });
});

describe('what is cut', () => {
  test('a count ends at 10,000 and one more', async () => {
    expect(await countDeliveries(sql, webhookId)).toEqual({
      pending: 10_001,
      inFlight: 0,
      suspended: 10_001,
      failed: 10_001,
      oldestDueS: expect.any(Number) as number,
    });
  });

  test('goes on where a page ended: every webhook comes once, and so does every muted one', async () => {
    for (const [filter, count] of [
      [{}, 5_000],
      [{ partnerId, state: 'muted' }, 150],
      [{ state: 'inactive' }, 0],
    ] as const) {
      const ids: string[] = [];
      let after: string | null = null;
      do {
        const page: Awaited<ReturnType<typeof listWebhooks>> = await listWebhooks(sql, filter, { after });
        ids.push(...page.rows.map(({ id }) => id));
        after = page.next;
      } while (after !== null);
      expect([ids.length, ids]).toEqual([count, ids.toSorted()]);
      expect(new Set(ids).size).toBe(count);
    }
  });

  test('goes on with the older lines of a history, to its first one', async () => {
    const newest = await readWebhook(sql, webhookId);
    expect(newest?.history.map(({ reason }) => Number(reason))).toEqual(count(20_000, 19_901));
    const older = await readWebhook(sql, webhookId, newest?.olderThan ?? null);
    expect(older?.history.map(({ reason }) => Number(reason))).toEqual(count(19_900, 19_801));
    const partner = await readPartner(sql, partnerId);
    const before = await readPartner(sql, partnerId, partner?.olderThan ?? null);
    expect(before?.history.map(({ reason }) => Number(reason))).toEqual(count(19_900, 19_801));
    const [first] = await sql<[{ position: string }]>`
      select min(position)::text as position from webhook_history where webhook_id = ${webhookId}`;
    const last = await readWebhook(sql, webhookId, String(Number(first.position) + 3));
    expect([last?.history.length, last?.olderThan]).toEqual([3, null]);
  });

  test('the count of active webhooks passes over those that a partner has deactivated', async () => {
    const [left] = await sql<[{ id: string }]>`select id from partners where name = 'Outro 1'`;
    await sql`
      insert into webhooks (id, partner_id, url, events, encrypted_secret, active)
      select uuidv7(), ${left.id}, url, events, encrypted_secret, n > 20000
      from webhooks, generate_series(1, 20003) n where id = ${webhookId}`;
    const { rows } = await listPartners(sql, false);
    expect(rows.find(({ id }) => id === left.id)?.webhooks).toBe(3);
    expect(await rowsScanned(database.url, (pool) => readBounded(pool, (tx) => listPartners(tx, false)))).toBeLessThan(
      2_500,
    );
  });

  test('the failures of the last hour are those of the newest 10,000 of a kind, and it is said', async () => {
    const cut = { rows: [{ id: webhookId, failedLastHour: 10_000 }], isCut: true };
    for (const of of [undefined, partnerId]) {
      expect(await listFailing(sql, of)).toMatchObject(cut);
      expect(await withFailures(sql, await readLines(sql, [webhookId]), of)).toMatchObject(cut);
    }
  });

  test('of a partner they are all of its own, whatever failed of another one since', async () => {
    const { id } = await insertWebhook(sql, otherId, 'https://other.example/');
    const attempt = (outcome: string, count: number) => sql`
      insert into attempts
        (delivery_id, number, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim, recorded_at)
      select gen_random_uuid(), 1, ${id}, ${otherId}, ${outcome}, case ${outcome} when 'entregue' then 200 end, now(), 1,
             'https://other.example/', 'old/1', now() - interval '30 minutes'
      from generate_series(1, ${count}::int)`;
    await attempt('erro_conexao', 4);
    await attempt('tempo_esgotado', 3);
    await attempt('entregue', 9_000);
    const own = { rows: [{ id, failedLastHour: 7 }], isCut: false };
    expect(await listFailing(sql, otherId)).toMatchObject(own);
    expect(await withFailures(sql, await readLines(sql, [id]), otherId)).toMatchObject(own);
    await attempt('entregue', 1_000);
    expect((await listFailing(sql, otherId)).isCut).toBe(true);
    const few = { ...own, rows: [{ id, failedLastHour: 3 }], isCut: true };
    expect(await withFailures(sql, await readLines(sql, [id]), undefined)).toMatchObject(few);
  });
});

function count(from: number, to: number): number[] {
  return Array.from({ length: from - to + 1 }, (_, index) => from - index);
}
