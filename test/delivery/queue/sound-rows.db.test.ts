/** What no row of the two hot tables may say, whoever writes it: the checks of `is_sound_delivery` and `is_sound_attempt`. */
import { describe, expect, test } from 'vitest';
import { SLOTS } from '../../../src/contract/schedule.ts';
import { DELIVERY_STATUSES, OUTCOMES } from '../../../src/contract/statuses.ts';
import { createTestDatabase } from '../../support/database.ts';
import { commitEvents, insertSubscriber } from '../../support/outbox.ts';

const database = await createTestDatabase();
const { sql } = database;
const { partnerId } = await insertSubscriber(sql);
await commitEvents(sql, partnerId, 1);
await sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim)
    select id, 1, webhook_id, partner_id, 'entregue', 200, now(), 1, 'https://partner.example/', 'test' from deliveries`;

test.each([
  ['deliveries', "status = 'nunca'"],
  ['deliveries', 'next_attempt_at = null'],
  ['deliveries', "status = 'entregue'"],
  ['deliveries', "status = 'entregue', next_attempt_at = null"],
  ['deliveries', 'finished_at = now()'],
  ['deliveries', 'failures = -1'],
  ['deliveries', `failures = ${SLOTS + 1}, attempts = 9`],
  ['deliveries', "status = 'erro', failures = 6, attempts = 6, next_attempt_at = null"],
  ['deliveries', 'lost_in_row = 5'],
  ['deliveries', 'failures = 1, attempts = 0'],
  ['attempts', 'number = 0'],
  ['attempts', "outcome = 'nunca'"],
  ['attempts', 'status_code = null'],
  ['attempts', 'status_code = 500'],
  ['attempts', "outcome = 'erro_conexao'"],
  ['attempts', 'duration_ms = null'],
  ['attempts', "outcome = 'desconhecido', status_code = null"],
  ['attempts', "outcome = 'desconhecido', status_code = null, duration_ms = null, late = true"],
  ['attempts', "answer = repeat('x', 12601)"],
])('a row of %s is refused with: %s', async (table, change) => {
  const refused = database.sql.unsafe(`update ${table} set ${change}`);
  await expect(refused).rejects.toMatchObject({ code: '23514', constraint_name: `${table}_sound` });
});

test('no search path changes what they judge', async () => {
  await expect(
    database.sql.begin(async (sql) => {
      await sql`create schema strange`;
      await sql`create function strange.always(text, text) returns boolean language sql immutable return true`;
      await sql`create operator strange.= (leftarg = text, rightarg = text, function = strange.always)`;
      await sql`set local search_path = strange, pg_catalog, carteiro`;
      return sql`select is_sound_attempt(1, false, 'nunca', null, 1, null, true) as attempt,
                        is_sound_delivery('nunca', 0, 0::smallint, null, null, null) as delivery`;
    }),
  ).resolves.toEqual([{ attempt: false, delivery: false }]);
});

describe('the functions have the words of the contract', () => {
  const wordsIn = async (signature: string) => {
    const [row] = await database.sql`select prosrc as text from pg_proc where proname = ${signature}`;
    return (row?.['text'] as string) ?? '';
  };
  test('statuses and slots', async () => {
    const text = await wordsIn('is_sound_delivery');
    expect(text).toContain(`any (array[${DELIVERY_STATUSES.map((status) => `'${status}'`).join(', ')}])`);
    expect(text).toContain(`failures operator(pg_catalog.<=) ${SLOTS}\n`);
  });
  test('outcomes', async () => {
    const text = await wordsIn('is_sound_attempt');
    expect(text).toContain(`'{${OUTCOMES.join(',')}}'`);
  });
});
