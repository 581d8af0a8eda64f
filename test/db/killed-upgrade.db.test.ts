/**
 * An upgrade from the release before that dies in the middle: killed, two of them killed at once, or killed when its session
 * was ended before; and one that lives on while its session is ended. The moment is a message to the database, drawn by a seed: it is the last one that the server hears, or the first that it does
 * not.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { migrate } from '../../src/db/migrations/migrate.ts';
import { readMigrationFiles } from '../../src/db/migrations/migration-files.ts';
import { pendingFiles } from '../../src/db/migrations/pending-migrations.ts';
import type { Sql } from '../../src/db/pool.ts';
import { connectTo } from '../support/connect.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startMessageRelay } from '../support/message-relay.ts';
import { copyMigrations } from '../support/migrations-folder.ts';
import { commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';
import { createRandom } from '../support/random.ts';
import { rowsOf, shapeOf } from '../support/schema-shape.ts';
import { silentLog } from '../support/silent-log.ts';
import { pollLanes } from '../support/poll.ts';

const RUNNER = join(import.meta.dirname, '../support/run-migrate.ts');
const MOMENTS = 20;
const SEED = 4_711;
const PATIENT = { pauseMs: 20, tries: 100_000 };

const TABLES = `
  alter table partners add column channel text not null default 'api';
  create table channel_changes (
    position bigint primary key generated always as identity,
    partner_id uuid not null references partners (id),
    channel text not null
  );`;
const INDEX = `-- outside a transaction
create index concurrently if not exists attempts_by_url on attempts (url);`;
const NOTES = `
  alter table webhooks add column note text;
  update webhooks set note = 'at ' || url;
  insert into channel_changes (partner_id, channel) select id, channel from partners;`;
const CHANNEL_OF = `create or replace function channel_of(p_partner_id uuid) returns text
  language sql stable set search_path from current
return (select channel from partners where id = p_partner_id);`;
const RIGHTS = `
grant select on channel_changes to carteiro_app;
grant execute on function channel_of(uuid) to carteiro_app;`;
const newer = await copyMigrations();
await newer.write('0001_channel.sql', TABLES);
await newer.write('0002_attempts_by_url.sql', INDEX);
await newer.write('0003_notes.sql', NOTES);
await newer.write('functions/channel_of.sql', CHANNEL_OF);
const poll = await newer.read('functions/delivery/poll_lanes.sql');
await newer.write(
  'functions/delivery/poll_lanes.sql',
  poll.replace(/^declare\n/m, 'declare\n  -- of the newer release\n'),
);
const partners = await newer.read('functions/auditors/auditoria.parceiros.sql');
await newer.write(
  'functions/auditors/auditoria.parceiros.sql',
  partners.replace(' from partners', ', channel as canal from partners'),
);
await newer.write('rights.sql', (await newer.read('rights.sql')) + RIGHTS);
const newerFiles = await readMigrationFiles(newer.path);
const fresh = await createEmptyDatabase();
await migrate(fresh.url, silentLog, { folder: newer.path });
const shape = await shapeOf(connectTo(fresh.url));
await fresh.drop();

/** A database of the older release, which is this one, with a partner's life in it. */
async function createLivedDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  const { sql, pool } = database;
  const partnerId = await insertPartner(sql);
  for (const path of ['one', 'two']) await insertWebhook(sql, partnerId, `https://partner.example/${path}`);
  await commitEvents(sql, partnerId, 5);
  const [claimed] = await pollLanes(pool, 'p/1', 3, new Date(Date.now() + 5));
  await sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, url, claim)
    values (${claimed?.id ?? null}, 1, ${claimed?.webhookId ?? null}, ${partnerId}, 'desconhecido', now(), '', 'p/1')`;
  return database;
}

/** How an upgrade dies at a message; `isHeard`: the server gets it still. */
interface Death {
  readonly message: number;
  readonly isHeard: boolean;
  readonly way: 'killed' | 'ended by the server, then killed';
}

/** Runs `migrate` to the newer release in a process of its own, which dies so. Returns how many messages it said. */
async function upgradeAndDie({ url, sql }: TestDatabase, death: Death | null): Promise<number> {
  let ending: Promise<unknown> | undefined;
  const relay = await startMessageRelay(url, (message) => {
    if (message !== death?.message) return true;
    if (death.way === 'ended by the server, then killed')
      ending = endSessions(sql).finally(() => child.kill('SIGKILL'));
    else child.kill('SIGKILL');
    return death.isHeard;
  });
  const child = spawn(process.execPath, [RUNNER, relay.url, newer.path], { stdio: 'ignore' });
  await once(child, 'exit');
  await ending;
  await relay.close();
  return relay.said;
}

function endSessions(sql: Sql): Promise<unknown> {
  return sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'carteiro migrate'`.execute();
}

async function pendingOf(sql: Sql): Promise<number> {
  return (await pendingFiles(sql, newerFiles, 'carteiro')).length;
}

/** Random deaths among the messages of an upgrade that is left alone, no two at the same message. */
function drawDeaths(messages: number, way: Death['way']): Death[] {
  const random = createRandom(SEED);
  const left = Array.from({ length: messages }, (_, index) => index + 1);
  return Array.from({ length: MOMENTS }, () => {
    const [message = 1] = left.splice(random.below(left.length), 1);
    return { message, isHeard: random.chance(0.5), way };
  });
}

/** What must hold whatever died: the next `migrate` ends well, the schema is that of a new database, every row is there. */
async function expectUpgraded({ url, sql }: TestDatabase, rows: Awaited<ReturnType<typeof rowsOf>>): Promise<void> {
  await migrate(url, silentLog, { folder: newer.path, ...PATIENT });
  expect(await pendingOf(sql)).toBe(0);
  expect(await shapeOf(sql)).toEqual(shape);
  expect(await rows.again()).toEqual(rows.digests);
  const [{ notes, changes }] = await sql<[{ notes: number; changes: number }]>`
    select (select count(*)::int from webhooks where note = 'at ' || url) as notes,
           (select count(*)::int from channel_changes) as changes`;
  expect({ notes, changes }).toEqual({ notes: 2, changes: 1 });
  await migrate(url, silentLog, { folder: newer.path });
}

test.each(['killed', 'ended by the server, then killed', 'killed twice at once'] as const)(
  'an upgrade, %s at 20 moments, leaves whole transactions; the next one completes it, and nothing is lost',
  async (name) => {
    const way = name === 'ended by the server, then killed' ? name : 'killed';
    const whole = await createLivedDatabase();
    const pending = await pendingOf(whole.sql);
    const messages = await upgradeAndDie(whole, null);
    expect(await pendingOf(whole.sql)).toBe(0);
    await whole.drop();

    const stages = new Set<number>();
    const deaths = drawDeaths(messages, way);
    for (const [index, death] of deaths.entries()) {
      const database = await createLivedDatabase();
      const rows = await rowsOf(database.sql);
      const others = name === 'killed twice at once' ? [deaths.at(index - 1) as Death] : [];
      await Promise.all([death, ...others].map((one) => upgradeAndDie(database, one)));
      stages.add(await pendingOf(database.sql));
      await expectUpgraded(database, rows);
      await database.drop();
    }
    // Before the first transaction, behind it, behind the index, and complete; and some died in between.
    expect([pending, pending - 1, pending - 2, 0]).toEqual(expect.arrayContaining([...stages]));
    expect([...stages].some((stage) => stage !== pending && stage !== 0)).toBe(true);
  },
);

test('a migration whose session is ended says so in a sentence, and the next one completes it', async () => {
  const said = new Set<string>();
  for (const message of [4, 10, 16, 22, 28, 34]) {
    const database = await createEmptyDatabase();
    const admin = connectTo(database.url);
    let ending: Promise<unknown> | undefined;
    const relay = await startMessageRelay(database.url, (number) => {
      if (number === message) ending = endSessions(admin);
      return true;
    });
    said.add(
      await migrate(relay.url, silentLog).then(
        () => 'migrated',
        (error: Error) => error.message,
      ),
    );
    await ending;
    await relay.close();
    await migrate(database.url, silentLog, PATIENT);
    await admin.end();
    await database.drop();
  }
  expect([...said]).toEqual(['the session of the migration was ended: what had not committed is undone; run it again']);
});
