/** The database and the check of evidence make the same leaf of a row, whatever is in it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leafOf } from '../../src/audit/seals/leaf.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertPartner, insertWebhook } from '../support/outbox.ts';
import { FAILED_DISBURSEMENT, RECEIVED_DOCUMENT } from '../support/payloads.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database;
  const partnerId = await insertPartner(sql);
  const { id } = await insertWebhook(sql, partnerId, 'https://partner.example/?q=ç');
  await sql`
    insert into webhook_history (webhook_id, partner_id, url, events, active, actor)
    select id, partner_id, url, events, active, 'a "quoted" actor' from webhooks`;
  for (const [data, actor, request] of [
    [FAILED_DISBURSEMENT.replace('conta encerrada', 'não há \\u0041 “conta”').replace(',', ' ,\n'), 'core', null],
    [FAILED_DISBURSEMENT, 'João\n', '00000000-0000-7000-8000-00000000abcd'],
  ] as const) {
    await sql`
      select append_event(gen_random_uuid(), 0, 'desembolso.falhou', ${partnerId}, ${data}::text::json, ${actor}, ${request})`;
  }
  await sql`select append_event(gen_random_uuid(), 0, 'documento.recebido', ${partnerId}, ${RECEIVED_DOCUMENT}::text::json, 'no message')`;
  await sql`
    select append_event(gen_random_uuid(), 0, 'desembolso.falhou', ${partnerId}, ${FAILED_DISBURSEMENT}::text::json, 'x', null, '1999-12-31T23:59:59.123Z', 'leilao')`;
  await sql`
    insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor)
    select 'reenvio_em_lote', webhook_id, partner_id, array_agg(id), 'João' from deliveries group by 2, 3`;
  await sql`
    insert into attempts (delivery_id, number, late, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url,
                          address, key_id, claim, error, answer)
    values
      (uuidv7(), 1, false, ${id}, ${partnerId}, 'entregue', 299, '1969-12-31T23:59:59.999Z', 0, 'https://á/', '::1', 'k', 'p', null, '\\x00ff'),
      (uuidv7(), 2147483647, true, ${id}, ${partnerId}, 'resposta_nao_2xx', 999, now(), 2147483647, '', '', '', '', '', ''),
      (uuidv7(), 7, false, ${id}, ${partnerId}, 'desconhecido', null, now(), null, 'u', null, null, 'p', null, null),
      (uuidv7(), 8, false, ${id}, ${partnerId}, 'erro_tls', null, now(), -5, 'u', null, null, 'p', 'não "há"\nrota', null)`;
});
afterAll(() => database.drop());

test('of every kind of row', async () => {
  const rows = await database.sql<{ source: string; line: string; leaf: Buffer }[]>`
    select source, line, leaf from sealable_rows`;
  expect(new Set(rows.map(({ source }) => source))).toEqual(
    new Set(['events', 'attempts', 'webhook_history', 'send_orders']),
  );
  expect(rows).toHaveLength(10);
  for (const { line, leaf } of rows)
    expect([line, leafOf(line)?.toString('hex')]).toEqual([line, leaf.toString('hex')]);
});

test('whatever changes in a row changes its leaf', async () => {
  const { sql } = database;
  const read = async () =>
    (await sql<{ leaf: Buffer }[]>`select leaf from sealable_rows`).map(({ leaf }) => leaf.toString('hex'));
  const known = new Set(await read());
  const changes = [
    sql`update attempts set url = address, address = url where address = '::1'`,
    sql`update attempts set number = 2`,
    sql`update attempts set late = not late, answer = '\\x01' where outcome <> 'desconhecido'`,
    sql`update attempts set address = '' where address is null`,
    sql`update attempts set recorded_at = recorded_at + interval '1 ms'`,
    sql`update attempts set duration_ms = 3, outcome = 'erro_conexao', status_code = null where duration_ms is not null`,
    sql`update attempts set webhook_id = partner_id`,
    sql`update events set actor = type, occurred_at = occurred_at + interval '1 ms'`,
    sql`update events set request_id = id where request_id is null`,
    sql`update events set loan_version = 1 where fan_out is not null`,
    sql`update events set snapshot = pg_current_snapshot() where fan_out is not null`,
    sql`update events set fan_out = null where fan_out is not null`,
  ];
  for (const change of changes) {
    const { count } = await change;
    const found = (await read()).filter((leaf) => !known.has(leaf));
    expect(found).toHaveLength(count);
    for (const leaf of found) known.add(leaf);
  }
});

test('of nothing but a line', () => {
  for (const line of ['', '{}', '["attempts"]', '["events",1]', 'null']) expect(leafOf(line)).toBeNull();
});
