/** The core's own Debezium beside us: it reads the core's tables and none of ours, and a slot without a reader is told. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test, type TestContext } from 'vitest';
import { checkSlots } from '../../src/main/operations/doctor-server.ts';
import { connectTo } from '../support/connect.ts';
import { openPool } from '../support/database.ts';
import { endOf } from '../support/ends.ts';
import { deliverAll, endLeases, live } from '../support/lived-database.ts';
import { migrated } from '../support/migrated.ts';
import { commitEvents } from '../support/outbox.ts';
import { startPrivateServer } from '../support/private-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { folderWith, isThere, run, snippet } from '../support/snippets.ts';

const PAGE = 'src/log/SERVERS.md';
const JARS = path.join(homedir(), '.cache/carteiro-debezium');
/** Prints each change as a line of JSON, until its standard input ends. */
const PROGRAM = `
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.io.FileReader;
import java.util.Properties;

class Changes {
  public static void main(String[] args) throws Exception {
    var properties = new Properties();
    try (var file = new FileReader("debezium.properties")) { properties.load(file); }
    for (int at = 0; at < args.length; at += 2) properties.setProperty(args[at], args[at + 1]);
    var engine = DebeziumEngine.create(Json.class).using(properties)
        .notifying(change -> System.out.println(change.value())).build();
    var thread = new Thread(engine);
    thread.start();
    while (System.in.read() >= 0);
    engine.close();
    System.exit(0);
  }
}`;

async function startDebezium(url: string, folder: string) {
  const { hostname, port, username, password, pathname } = new URL(url);
  const at = ['hostname', hostname, 'port', port, 'user', username, 'password', password, 'dbname', pathname.slice(1)];
  const settings = at.map((word, index) => (index % 2 === 0 ? `database.${word}` : word));
  const child = spawn('java', ['-cp', `.:${JARS}/*`, 'Changes', ...settings], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const end = endOf(async () => {
    child.stdin.end();
    await ended;
  });
  const changes: { source: { schema: string; table: string }; after: { number: string } }[] = [];
  createInterface({ input: child.stdout }).on(
    'line',
    (line) => line.startsWith('{') && changes.push(JSON.parse(line).payload ?? JSON.parse(line)),
  );
  return { changes, end };
}

test('Debezium reads the core’s tables alone; its slot without a reader is told, and a publication of all tables stops no delivery', async (context: TestContext) => {
  if (!existsSync(JARS) || !(await isThere(['java', '-version'])))
    context.skip('Debezium is not in ~/.cache/carteiro-debezium (.ci/run has the command)');
  const folder = await folderWith({
    'Changes.java': PROGRAM,
    'debezium.properties': await snippet('debezium.properties', PAGE),
  });
  await run(['javac', '-cp', `${JARS}/*`, 'Changes.java'], folder.path);
  const server = await migrated(startPrivateServer({ wal_level: 'logical' }));
  const sql = connectTo(server.url);
  const pool = openPool(server.url);
  await sql.unsafe(`create schema core; create table core.loans (number text primary key)`);
  await sql.unsafe(await snippet('debezium.sql', PAGE));

  const debezium = await startDebezium(server.url, folder.path);
  await expect.poll(() => sql`select from pg_replication_slots where active`, { timeout: 120_000 }).toHaveLength(1);
  const receiver = await startReceiver();
  const { partnerId } = await live(pool, sql, receiver);
  for (const number of ['1', '2'])
    await sql.begin(async (tx) => {
      await tx`insert into core.loans values (${number})`;
      await commitEvents(tx as never, partnerId, 1);
    });
  await expect.poll(() => debezium.changes.map(({ after }) => after.number), { timeout: 60_000 }).toEqual(['1', '2']);
  expect(new Set(debezium.changes.map(({ source }) => `${source.schema}.${source.table}`))).toEqual(
    new Set(['core.loans']),
  );

  expect(await pool.run(checkSlots)).toMatchObject([{ verdict: 'ok' }]);
  await debezium.end();
  await expect.poll(() => sql`select from pg_replication_slots where not active`).toHaveLength(1);
  expect(await pool.run(checkSlots)).toMatchObject([
    {
      verdict: 'warning',
      found: expect.stringMatching(/^nobody reads the replication slot core_changes, which keeps \d+ MiB of WAL/),
    },
  ]);

  // One of all tables is a leak, and no standstill: each table that is updated has a replica identity.
  await sql`create publication everything for all tables`;
  await commitEvents(sql, partnerId, 1);
  await endLeases(sql);
  await deliverAll(pool);
  expect(await sql`select from deliveries where status = 'pendente' `).toHaveLength(0);
});
