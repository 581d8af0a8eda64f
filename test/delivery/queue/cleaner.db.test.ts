import { expect, test } from 'vitest';
import { Claimer } from '../../../src/delivery/poller/claimer.ts';
import { createTestDatabase, openPool } from '../../support/database.ts';
import { createLogin } from '../../support/logins.ts';
import { silentLog } from '../../support/silent-log.ts';

const database = await createTestDatabase();
const login = await createLogin(database, 'carteiro_poller');
const pool = openPool(login.url, { name: 'cleaner', max: 3 });

test('keeps the wake rows as few as they are, with the rights of a poller and without autovacuum', async () => {
  const { sql } = database;
  const claimer = new Claimer({ pool, log: silentLog, name: 'p', monotonicMs: () => 0, now: () => null });
  const sizes: number[] = [];
  for (let round = 0; round < 12; round += 1) {
    await sql`
      insert into arrivals (webhook_id, partner_id, kind, due_at)
      select webhook_id, webhook_id, 'due', now()
      from (select uuidv7() as webhook_id from generate_series(1, 10)) woken, generate_series(1, 1000)`;
    while ((await claimer.claim(1, null)).more);
    await claimer.settled();
    const [row] = await sql<[{ bytes: number }]>`select pg_relation_size('arrivals')::float8 as bytes`;
    sizes.push(row.bytes);
  }
  expect(sizes.at(-1)).toBeLessThanOrEqual((sizes[2] ?? 0) * 1.1);
});
