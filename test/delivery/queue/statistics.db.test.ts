import { expect, test } from 'vitest';
import { connectTo } from '../../support/connect.ts';
import { createTestDatabase } from '../../support/database.ts';
import { insertPartner } from '../../support/outbox.ts';

const ROWS = 7_000;

test('the statistics of every table are made of 6,000 rows, with few rests, because what dies meanwhile stays', async () => {
  const { url, sql } = await createTestDatabase();
  const partnerId = await insertPartner(sql);
  await sql`
    insert into events (stream, version, type, partner_id, data, occurred_at, actor)
    select gen_random_uuid(), 1, 'desembolso.falhou', ${partnerId}, '{}', now(), 'test' from generate_series(1, ${ROWS}::int)`;
  await sql`
    insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
    select gen_random_uuid(), gen_random_uuid(), ${partnerId}, now() from generate_series(1, ${ROWS}::int)`;
  await sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, duration_ms, url, claim)
    select id, 1, webhook_id, partner_id, 'erro_conexao', now(), 1, 'https://partner.example/', 'old' from deliveries`;

  const longer = await sql<{ place: string }[]>`
    select format('%s.%s', c.oid::regclass, a.attname) as place
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'carteiro'::regnamespace and c.relkind = 'r'
      and a.attgenerated <> 'v' and a.attstattarget is distinct from 20`;
  expect(longer).toEqual([]);

  const resting = await sql`
    select relname from pg_class
    where oid = any ('{events,deliveries,attempts}'::regclass[])
      and not coalesce(reloptions, '{}') @> '{autovacuum_vacuum_cost_limit=2000}'`;
  expect(resting).toEqual([]);

  const samples: string[] = [];
  const telling = connectTo(url, {
    onnotice: ({ message = '' }) => samples.push(...(/\d+ rows in sample/.exec(message) ?? [])),
  });
  await telling`analyze (verbose) events, deliveries, attempts`;
  expect(samples).toEqual(Array.from({ length: 3 }, () => '6000 rows in sample'));
});
