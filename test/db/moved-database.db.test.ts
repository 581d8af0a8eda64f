/** A database that moves: dumps, copies, promotions and recoveries, each with PostgreSQL's own means. */
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { DEFAULT_INSTALLATION, ROLES } from '../../src/db/installation.ts';
import { readServerFault } from '../../src/db/known-server.ts';
import { compareSchema } from '../../src/db/migrations/compare-schema.ts';
import type { Pool, Sql } from '../../src/db/pool.ts';
import { connectTo } from '../support/connect.ts';
import { migrated } from '../support/migrated.ts';
import { claimDue } from '../support/poll.ts';
import { whereToGoOn } from '../../src/log/feed.ts';
import { adoptServer } from '../../src/main/commands/installation.ts';
import {
  backUp,
  clientTools,
  finishArchive,
  following,
  recover,
  startCluster,
  type TestCluster,
  untilCaughtUp,
} from '../support/clusters.ts';
import {
  burnTransactions,
  endLeases,
  expectToGoOn,
  live,
  type LivedDatabase,
  readOn,
} from '../support/lived-database.ts';
import { commitEvents } from '../support/outbox.ts';
import { startReceiver } from '../support/receiver.ts';
import { makeTestFolder } from '../support/test-folder.ts';
import { openPool } from '../support/database.ts';

interface Opened {
  readonly pool: Pool;
  readonly sql: Sql;
}

const tools = await clientTools();
if (tools === null) console.log('pg_dump and pg_restore of PostgreSQL 18 are not installed here: not tried');

const receiver = await startReceiver();
let source: TestCluster;
let here: Opened;
let lived: LivedDatabase;

function open(url: string): Opened {
  const pool = openPool(url, { max: 6 });
  const sql = connectTo(url, { max: 2, connection: { search_path: 'carteiro', TimeZone: 'UTC' } });
  return { pool, sql };
}

beforeEach(async () => {
  source = await migrated(startCluster());
  here = open(source.url);
  await burnTransactions(here.sql, 3_000);
  lived = await live(here.pool, here.sql, receiver);
});

/** What nobody may do on a server that the database does not know. */
async function expectToWait({ pool, sql }: Opened, fault: string, said: string): Promise<void> {
  expect(await pool.run(readServerFault)).toBe(fault);
  const rowsBefore = await sql`select count(*) from events`;
  await expect(commitEvents(sql, lived.partnerId, 1)).rejects.toThrow(said);
  await expect(pool.transaction((tx) => claimDue(tx, 'too-early/1', 10))).rejects.toThrow(said);
  await expect(sealAll(pool)).rejects.toThrow(said);
  expect(await sql`select count(*) from events`).toEqual(rowsBefore);
}

async function expectAdoption({ pool, sql }: Opened): Promise<void> {
  const [{ newest }] = await sql<[{ newest: Date }]>`select max(recorded_at) as newest from attempts`;
  const { summary, reported } = await adoptServer(pool, 'carteiro_owner');
  expect(summary.newestAttemptAt).toEqual(newest);
  expect(summary).toMatchObject({ adopted: true, epoch: 2, endedClaims: 3, pending: 4 });
  expect(reported).toContain('What the server before did\nafter that is not in this database');
  const lost = await sql`select outcome, poller from attempts where outcome = 'desconhecido'`;
  expect(lost).toEqual(Array.from({ length: 3 }, () => ({ outcome: 'desconhecido', poller: 'gone' })));
  expect(await pool.run(readServerFault)).toBeNull();
  expect((await adoptServer(pool, 'carteiro_owner')).summary).toMatchObject({
    adopted: false,
    fault: null,
    epoch: 2,
    endedClaims: 0,
  });
}

const COPY = 'this database is a copy';

describe('a database that was restored into another server', () => {
  test.skipIf(tools === null)('by pg_dump and pg_restore waits for adopt, and goes on', async () => {
    const before = await readOn(here.pool, lived.partnerId);
    expect(before.ids).toHaveLength(12);
    const file = join((await makeTestFolder()).path, 'dump');
    await tools?.('pg_dump', ['--format=custom', `--file=${file}`, source.url]);
    const other = await startCluster();
    const admin = connectTo(other.url);
    for (const role of ROLES) await admin.unsafe(`create role carteiro_${role} nologin`);
    await tools?.('pg_restore', ['--exit-on-error', `--dbname=${other.url}`, file]);
    const there = open(other.url);
    await expectToWait(there, 'copy', COPY);
    await expectAdoption(there);
    await expectToGoOn(there.pool, there.sql, lived, before);
    expect(await compareSchema(there.pool, DEFAULT_INSTALLATION)).toEqual({ differences: [], uncompared: null });
  });

  test('table by table, as \\copy does, waits for adopt, and goes on with its counters above the rows', async () => {
    const before = await readOn(here.pool, lived.partnerId);
    const other = await migrated(startCluster());
    const there = open(other.url);
    await copyTables(here.sql, there.sql);
    await expectToWait(there, 'copy', COPY);
    await expectAdoption(there);
    await expectToGoOn(there.pool, there.sql, lived, before);
    const [{ position }] = await there.sql<[{ position: number }]>`
      select max(position)::int as position from events`;
    expect(position).toBe(17);
  });

  test('table by table without the installation’s row is known by its log, and waits as well', async () => {
    const before = await readOn(here.pool, lived.partnerId);
    expect(before.ids).toHaveLength(12);
    const other = await migrated(startCluster());
    const there = open(other.url);
    await copyTables(here.sql, there.sql, ['installation']);
    await expectToWait(there, 'behind', 'this database went back in time');
    await expectAdoption(there);
    await expectToGoOn(there.pool, there.sql, lived, before);
  });
});

/** All rows of all tables; what a fresh installation has of its own gives way. */
async function copyTables(from: Sql, to: Sql, except: readonly string[] = []): Promise<void> {
  const tables = await from<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'carteiro'::regnamespace and relkind = 'r' and relname <> all (${['applied_migrations', ...except]})`;
  const names = tables.map(({ name }) => name);
  await to.unsafe(`truncate ${names.join(', ')}`);
  await to.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    for (const name of names) {
      const rows = await from.unsafe(`copy ${name} to stdout`).readable();
      await pipeline(rows, await tx.unsafe(`copy ${name} from stdin`).writable());
    }
  });
}

describe('a standby', () => {
  test('that is promoted goes on in a new epoch at once, with nobody’s help', async () => {
    const backup = await backUp(source);
    const standby = await backup.start({ signal: 'standby.signal', settings: following(source) });
    const there = open(standby.url);
    const before = await readOn(here.pool, lived.partnerId);
    await untilCaughtUp(here.sql, there.sql);
    expect((await readOn(there.pool, lived.partnerId)).ids).toEqual(before.ids);
    await source.stop('fast');
    await there.sql`select pg_promote()`;

    expect(await there.pool.run(readServerFault)).toBeNull();
    const [{ epoch }] = await there.sql<[{ epoch: number }]>`select current_epoch() as epoch`;
    expect(epoch).toBe(2);
    await endLeases(there.sql);
    await expectToGoOn(there.pool, there.sql, lived, before);
    const epochs = await there.sql`select epoch, count(*)::int from events group by epoch order by epoch`;
    expect(epochs).toEqual([
      { epoch: 1, count: 12 },
      { epoch: 2, count: 5 },
    ]);
  });
});

describe('a transaction that was prepared before a promotion', () => {
  test('holds back the feed and the seals until it is over, and is skipped by neither', async () => {
    const primary = await migrated(startCluster({ max_prepared_transactions: '5' }));
    const first = open(primary.url);
    const { partnerId } = await live(first.pool, first.sql, receiver);
    const backup = await backUp(primary);
    const standby = await backup.start({ signal: 'standby.signal', settings: following(primary) });
    const there = open(standby.url);
    const session = await first.sql.reserve();
    await session`begin`;
    await commitEvents(session, partnerId, 1);
    await session`prepare transaction 'late'`;
    session.release();
    await commitEvents(first.sql, partnerId, 1);
    await untilCaughtUp(first.sql, there.sql);
    await primary.stop('fast');
    await there.sql`select pg_promote()`;

    await commitEvents(there.sql, partnerId, 1);
    await sealAll(there.pool);
    const before = await readOn(there.pool, partnerId);
    expect(before.ids).toHaveLength(12);
    await there.sql`commit prepared 'late'`;
    await endLeases(there.sql);
    await expectToGoOn(there.pool, there.sql, { partnerId, webhookId: '' }, before);
  });
});

describe('a recovery to an earlier moment', () => {
  test('tells cursors that lie ahead of it where to go on, and skips nothing that was written since', async () => {
    const backup = await backUp(source);
    const before = await readOn(here.pool, lived.partnerId);
    await here.sql`select pg_create_restore_point('the moment')`;
    await commitEvents(here.sql, lived.partnerId, 7);
    const ahead = await readOn(here.pool, lived.partnerId);
    expect(ahead.ids).toHaveLength(19);
    await finishArchive(source);
    await source.stop('fast');
    const recovered = await recover(source, backup, 'the moment');
    const there = open(recovered.url);
    await untilWritable(there.sql);

    // As many events as were lost, so that their transactions and positions are used again.
    await commitEvents(there.sql, lived.partnerId, 7);
    expect(await whereToGoOn(there.pool, lived.partnerId, ahead.cursor)).toEqual(before.cursor);
    const { ids } = await readOn(there.pool, lived.partnerId, before.cursor);
    expect(ids).toHaveLength(7);
    expect(ids.filter((id) => ahead.ids.includes(id))).toEqual([]);
    await endLeases(there.sql);
    await expectToGoOn(there.pool, there.sql, lived, before);
  });
});

async function untilWritable(sql: Sql): Promise<void> {
  for (;;) {
    const [{ isDone }] = await sql<[{ isDone: boolean }]>`select not pg_is_in_recovery() as "isDone"`;
    if (isDone) return;
  }
}
