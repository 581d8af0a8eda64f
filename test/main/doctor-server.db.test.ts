/** What of the server, beside our own database, holds up seals, the feed and vacuum. */
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readHeldTransactions } from '../../src/db/held-rows.ts';
import { checkSlots, checkTransactions } from '../../src/main/operations/doctor-server.ts';
import { startCluster } from '../support/clusters.ts';
import { connectTo } from '../support/connect.ts';
import { createTestDatabase, openPool } from '../support/database.ts';

test('a write in another database, one prepared there, and a slot without a reader are told', async () => {
  const cluster = await startCluster({ max_prepared_transactions: '5' });
  const pool = openPool(cluster.url);
  expect(await pool.run(checkSlots)).toMatchObject([{ verdict: 'ok' }]);
  const url = new URL(cluster.url);
  url.pathname = '/postgres';
  const other = connectTo(url.href, { max: 2, connection: {} });
  await other`create table one (id int)`;
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const writing = other.begin(async (tx) => {
    await tx`insert into one values (1)`;
    begin();
    await mayEnd;
  });
  await begun;
  const preparing = connectTo(url.href, { connection: {} });
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
  const found = await later.run(checkTransactions);
  expect(found.map((finding) => finding.found)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(
        /^process \d+ \(postgres.js\) has been in one of the database postgres for \d+ s, and keeps what has died since \d+ transactions$/,
      ),
      expect.stringMatching(/^theirs of \w+ is prepared in the database postgres and not ended$/),
    ]),
  );
  expect(await pool.run(checkSlots)).toMatchObject([
    {
      verdict: 'warning',
      found: expect.stringMatching(/^nobody reads the replication slot forgotten, which keeps \d+ MiB/),
    },
  ]);
  end();
  await writing;
});

test('a report of some seconds beside many transactions is told, a statement of ours beside it is not', async () => {
  const { url, pool } = await createTestDatabase();
  const report = connectTo(url, { connection: { application_name: 'report', search_path: 'carteiro' } });
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<number>();
  const reading = report.begin('isolation level repeatable read', async (tx) => {
    const [row] = await tx<
      [{ pid: number }]
    >`select pg_backend_pid() as pid from attempts right join (values (1)) v on true`;
    begin(row.pid);
    await mayEnd;
  });
  const pid = await begun;
  const found = async () => (await pool.run(checkTransactions)).map((finding) => finding.found);
  const named = expect.arrayContaining([
    expect.stringMatching(new RegExp(`^process ${pid} .report. has been in one of .* for \\d+ s, and keeps`)),
  ]);
  await setTimeout(5_100);
  expect(await found()).not.toEqual(named);
  await pool.run(
    (sql) => sql`do $$ begin for n in 1..10001 loop perform pg_current_xact_id(); commit; end loop; end $$`,
  );
  expect(await found()).toEqual(named);
  expect(await pool.run(readHeldTransactions)).toBeGreaterThan(10_000);
  end();
  await reading;
});
