/** What of the server, beside our own database, holds up seals, the feed and vacuum. */
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { lookAtSlots, lookAtTransactions } from '../../src/main/operations/doctor-server.ts';
import { startCluster } from '../support/clusters.ts';
import { openPool } from '../support/database.ts';

test('a write in another database, one prepared there, and a slot without a reader are told', async () => {
  const cluster = await startCluster({ max_prepared_transactions: '5' });
  const pool = openPool(cluster.url);
  expect(await pool.run(lookAtSlots)).toMatchObject([{ verdict: 'ok' }]);
  const url = new URL(cluster.url);
  url.pathname = '/postgres';
  const other = postgres(url.href, { max: 2, onnotice: () => undefined });
  await other`create table one (id int)`;
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const writing = other.begin(async (tx) => {
    await tx`insert into one values (1)`;
    begin();
    await mayEnd;
  });
  await begun;
  const preparing = postgres(url.href, { max: 1 });
  for (const statement of ['begin', 'insert into one values (2)', `prepare transaction 'theirs'`]) {
    await preparing.unsafe(statement);
  }
  await preparing.end();
  await other`select pg_create_physical_replication_slot('forgotten', true)`;
  // The doctor looks a minute later.
  const later = openPool(cluster.url, { settings: { search_path: 'ahead, pg_catalog' } });
  await pool.run(async (sql) => {
    await sql`create schema ahead`;
    await sql`create function ahead.clock_timestamp() returns timestamptz language sql return pg_catalog.clock_timestamp() + interval '2 minutes'`;
  });
  const found = await later.run(lookAtTransactions);
  expect(found.map((finding) => finding.found)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^process \d+ \(postgres.js\) has been in one of the database postgres for \d+ s$/),
      expect.stringMatching(/^theirs of \w+ is prepared in the database postgres and not ended$/),
    ]),
  );
  expect(await pool.run(lookAtSlots)).toMatchObject([
    {
      verdict: 'warning',
      found: expect.stringMatching(/^nobody reads the replication slot forgotten, which keeps \d+ MiB/),
    },
  ]);
  end();
  await writing;
  await other.end();
});
