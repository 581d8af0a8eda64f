/** Changes that a running system survives, and runs of `migrate` that end in the middle. */
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { entryOf, eventCatalog } from '../../src/contract/event-catalog.ts';
import { disbursementFailed } from '../../src/contract/payloads.ts';
import { readHolder } from '../../src/db/migrations/lock-holder.ts';
import { migrate } from '../../src/db/migrations/migrate.ts';
import { pendingMigrations } from '../../src/db/migrations/pending-migrations.ts';
import type { Sql } from '../../src/db/pool.ts';
import { untilFit } from '../../src/main/service/fitness.ts';
import type { LogFields, Logger } from '../../src/log-lines.ts';
import { connectTo } from '../support/connect.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startEngine } from '../support/engine.ts';
import { createLogin } from '../support/logins.ts';
import { copyMigrations, type MigrationsFolder } from '../support/migrations-folder.ts';
import { commitEvents, insertSubscriber } from '../support/outbox.ts';
import { startReceiver } from '../support/receiver.ts';
import { silentLog } from '../support/silent-log.ts';

const RUNNER = join(import.meta.dirname, '../support/run-migrate.ts');
const ADDS_A_COLUMN = 'alter table webhooks add column note text;';
const INDEX = 'create index concurrently if not exists attempts_by_url on attempts (url)';
const OUTSIDE = `-- outside a transaction\n${INDEX};`;

let database: TestDatabase;
let next: MigrationsFolder;
beforeEach(async () => {
  database = await createTestDatabase();
  next = await copyMigrations();
});

interface Reported {
  readonly log: Logger;
  readonly lines: { fields: LogFields; message: string }[];
  /** Resolves with the first line that says so. */
  said(pattern: RegExp): Promise<LogFields>;
}

function listen(): Reported {
  const lines: Reported['lines'] = [];
  const waiting: (() => void)[] = [];
  const write = (fields: LogFields, message: string): void => {
    lines.push({ fields, message });
    for (const wake of waiting.splice(0)) wake();
  };
  return {
    log: { debug: write, info: write, warn: write, error: write },
    lines,
    async said(pattern) {
      for (;;) {
        const found = lines.find(({ message }) => pattern.test(message));
        if (found) return found.fields;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}

describe('beside a reader that stays', () => {
  test('migrate gives its place in the queue up, says who reads, lets writers through, and ends with the reader', async () => {
    await next.write('0001_note.sql', ADDS_A_COLUMN);
    const reader = connectTo(database.url, { connection: { application_name: 'pg_dump' } });
    const { id } = await insertSubscriber(database.sql);
    const reported = listen();
    // A core that has been at work for longer, on another table.
    const core = await database.sql.reserve();
    await core`begin`;
    await core`select from carteiro.partners`;
    const open = await reader.reserve();
    await open`begin`;
    await open`select from carteiro.webhooks`;
    const migrating = migrate(database.url, reported.log, { folder: next.path, pauseMs: 1 });
    const { holder, reason } = await reported.said(/a lock that the migration needs is taken: trying again later/);
    expect(holder).toMatch(
      /^pid \d+, pg_dump, idle in transaction, open for \d+ s, holds AccessShareLock on webhooks$/,
    );
    expect(reason).toMatch(/lock timeout/);
    // A writer waits behind the migration, but never for longer than its lock_timeout of 2 s: the reader still reads.
    for (let n = 0; n < 3; n += 1) await database.sql`update webhooks set url = url where id = ${id}`;
    await open`commit`;
    open.release();
    await migrating;
    await core`commit`;
    core.release();
    expect(await database.sql`select note from webhooks`).toEqual([{ note: null }]);
  });

  test('functions, views and rights are applied at once: for them no table is locked', async () => {
    await changeAFunction();
    await next.write('rights.sql', `${await next.read('rights.sql')}\n-- changed`);
    await next.write('storage.sql', `${await next.read('storage.sql')}\n-- changed`);
    await database.sql.begin(async (tx) => {
      const tables = await tx<{ name: string }[]>`
        select oid::regclass::text as name from pg_class where relnamespace = 'carteiro'::regnamespace and relkind = 'r'`;
      await tx.unsafe(`lock table ${tables.map(({ name }) => name).join(', ')} in access share mode`);
      await migrate(database.url, silentLog, { folder: next.path, tries: 1 });
      const [{ locked }] = await tx<[{ locked: boolean }]>`
        select bool_or(not granted) as locked from pg_locks where relation = 'carteiro.lanes'::regclass`;
      expect(locked).toBe(false);
    });
    expect(await sourceOf(database.sql)).toContain('of the next release');
  });

  test('migrate ends with PostgreSQL’s reason and the reader’s name when it stays for too long; nothing has changed', async () => {
    await next.write('0001_note.sql', ADDS_A_COLUMN);
    await database.sql.begin(async (tx) => {
      await tx`select from carteiro.webhooks`;
      await expect(migrate(database.url, silentLog, { folder: next.path, tries: 2, pauseMs: 1 })).rejects.toThrow(
        /^canceling statement due to lock timeout; pid \d+, .*, open for \d+ s, holds AccessShareLock on webhooks\. Nothing has changed\. What to do: end that transaction, then try again$/,
      );
    });
    expect(await columnsOf(database.sql)).not.toContain('note');
  });
});

async function columnsOf(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select attname as name from pg_attribute where attrelid = 'carteiro.webhooks'::regclass and attnum > 0`;
  return rows.map(({ name }) => name);
}

async function changeAFunction(): Promise<void> {
  const changed = (await next.read('functions/delivery/poll_lanes.sql')).replace(
    /^declare\n/m,
    '-- of the next release\ndeclare\n',
  );
  await next.write('functions/delivery/poll_lanes.sql', changed);
}

describe('two releases', () => {
  test('the old one runs on over the new one’s tables and functions; a rollback of the functions is a migrate of the old one', async () => {
    await next.write('0001_note.sql', ADDS_A_COLUMN);
    await changeAFunction();
    await migrate(database.url, silentLog, { folder: next.path });

    expect(await database.pool.run(pendingMigrations)).toBe(0);
    await expect(untilFit(database.pool, silentLog, new AbortController().signal)).resolves.toBe(true);
    const receiver = await startReceiver();
    const { partnerId } = await insertSubscriber(database.sql, receiver.url);
    const engine = startEngine(database.pool, { now: () => null });
    await commitEvents(database.sql, partnerId, 3);
    while ((await engine.poll()) > 0);
    expect(receiver.posts).toHaveLength(3);
    await engine.close();
    await receiver.close();

    await expect(migrate(database.url, silentLog)).rejects.toThrow(
      /^the schema "carteiro" has the migration 0001_note\.sql, which this version does not know\. Nothing has changed\. What to do: run the newer version/,
    );
    expect(await sourceOf(database.sql)).toContain('of the next release');
  });

  test('functions alone go forth and back, and each release notices its own', async () => {
    await changeAFunction();
    await migrate(database.url, silentLog, { folder: next.path });
    expect(await sourceOf(database.sql)).toContain('of the next release');
    await migrate(database.url, silentLog);
    expect(await sourceOf(database.sql)).not.toContain('of the next release');
    expect(await database.pool.run(pendingMigrations)).toBe(0);
    await migrate(database.url, silentLog, { folder: next.path });
    expect(await sourceOf(database.sql)).toContain('of the next release');
  });

  test('a new process on an old database refuses plainly', async () => {
    await database.sql`delete from applied_migrations where name = 'functions/poll_lanes.sql'`;
    await expect(untilFit(database.pool, silentLog, new AbortController().signal)).rejects.toThrow(
      /^1 migration is pending: run the command 'migrate' first$/,
    );
  });

  test('a numbered migration that has changed since is refused', async () => {
    const [{ tag }] = (JSON.parse(await next.read('meta/_journal.json')) as { entries: [{ tag: string }] }).entries;
    await next.write(`${tag}.sql`, `${await next.read(`${tag}.sql`)}\n-- changed`);
    await expect(migrate(database.url, silentLog, { folder: next.path })).rejects.toThrow(
      /0000_baseline\.sql has changed since it was applied to the schema "carteiro"\. Nothing has changed\. What to do: a released migration never changes/,
    );
  });
});

async function sourceOf(sql: Sql): Promise<string> {
  const [{ source }] = await sql<[{ source: string }]>`
    select prosrc as source from pg_proc where oid = 'carteiro.poll_lanes'::regproc`;
  return source;
}

describe('a catalog that has grown', () => {
  const now = eventCatalog();
  const CANAL = z.strictObject({
    ...disbursementFailed.shape,
    canal: z.enum(['web', 'app']).optional(),
    motivo: z.string().nullable(),
  });
  const grown = [
    ...now.map((entry) =>
      entry.name === 'desembolso.falhou' ? entryOf(entry.name, 'emitted', entry.families, CANAL) : entry,
    ),
    entryOf('desembolso.estornado', 'emitted', ['backoffice'], CANAL),
  ];

  test('takes payloads of both releases, of a new event too, and no migrate takes it back', async () => {
    const { sql } = database;
    const { partnerId } = await insertSubscriber(sql, 'https://partner.example/', ['desembolso.falhou']);
    const append = async (more: object, type = 'desembolso.falhou') => {
      const [loan] = await sql<[{ id: string }]>`select uuidv7() as id`;
      const fields = { emprestimo_id: loan.id, numero_emprestimo: '1', motivo: 'x', ...more };
      await sql`select append_event(${loan.id}, 0, ${type}, ${partnerId}, ${JSON.stringify(fields)}::text::json, 'core')`;
      const [row] = await sql<[{ data: string }]>`select data::text from events where stream = ${loan.id}`;
      return row.data.replace(loan.id, '');
    };
    const OLD = '{"emprestimo_id":"","numero_emprestimo":"1","motivo":"x"}';
    await expect(append({ canal: 'web' })).rejects.toMatchObject({
      code: 'CT400',
      message: expect.stringMatching(/"canal" is unknown/) as string,
    });
    await migrate(database.url, silentLog, { catalog: grown });
    expect(await append({})).toBe(OLD);
    expect(await append({ canal: 'web' })).toBe(OLD.replace('}', ',"canal":"web"}'));
    expect(await append({ motivo: null })).toBe(OLD.replace('"x"', 'null'));
    expect(await append({ canal: 'app' }, 'desembolso.estornado')).toContain('"canal":"app"');
    await expect(append({ canal: 'fax' })).rejects.toMatchObject({
      code: 'CT400',
      message: expect.stringMatching(/"canal" must be one of web, app/) as string,
    });
    expect(await database.pool.run(pendingMigrations)).toBe(0);
    await expect(migrate(database.url, silentLog)).rejects.toThrow(
      /would lose what the database has: the event desembolso.estornado is gone; desembolso.falhou: the key "canal" is gone; desembolso.falhou: "motivo" may no longer be null/,
    );
    expect(await append({ canal: 'web' })).toContain('"canal":"web"');
    const versions = await sql`select name, version from event_types where version <> 1`;
    expect(versions).toEqual([{ name: 'desembolso.falhou', version: 2 }]);
  });

  test('tells who holds a lock, also to a login that may not see whose session it is', async () => {
    const login = await createLogin(database, 'carteiro_app');
    const blind = connectTo(login.url);
    await database.sql.begin(async (tx) => {
      await tx`lock table webhooks in access share mode`;
      const [{ pid }] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`;
      const waiter = connectTo(database.url);
      const [{ waiting }] = await waiter<[{ waiting: number }]>`select pg_backend_pid() as waiting`;
      const locked = waiter.begin((sql) => sql`lock table webhooks`.then(() => sql`rollback`)).catch(() => undefined);
      let holder: string | null = null;
      while (holder === null) holder = await blind.begin((sql) => readHolder(sql, waiting));
      await database.sql`select pg_cancel_backend(${waiting})`;
      await locked;
      expect(holder).toMatch(
        new RegExp(`^pid ${pid}, of another login .*grant pg_monitor to .*, holds AccessShareLock on webhooks$`),
      );
    });
  });
});

describe('a migration that fails', () => {
  test.each([
    ['select 1/0;', /^0002_last\.sql: division by zero \(SQLSTATE 22012\)\. Nothing has changed/],
    ['create table loans (id int);', /^0002_last\.sql: relation "loans" already exists \(SQLSTATE 42P07\)\. Nothing/],
    ['alter table nothing add column x int;', /^0002_last\.sql: relation "nothing" does not exist \(SQLSTATE 42P01\)/],
    ['grant carteiro_owner to pg_monitor', /^0002_last\.sql: .*\(SQLSTATE \w{5}\)/],
  ])('with %s leaves nothing of those before it, and says whose fault it is', async (sql, reason) => {
    await next.write('0001_note.sql', ADDS_A_COLUMN);
    await next.write('0002_last.sql', sql);
    await expect(migrate(database.url, silentLog, { folder: next.path })).rejects.toThrow(reason);
    expect(await columnsOf(database.sql)).not.toContain('note');
    expect(await database.pool.run(pendingMigrations)).toBe(0);
  });

  test('outside a transaction names its file, and says that what stands before it stays', async () => {
    await next.write('0001_note.sql', ADDS_A_COLUMN);
    await next.write('0002_last.sql', '-- outside a transaction\ncreate index concurrently x on attempts (nothing)');
    await expect(migrate(database.url, silentLog, { folder: next.path })).rejects.toThrow(
      /^0002_last\.sql: column "nothing" does not exist \(SQLSTATE 42703\)\. The files before it are applied/,
    );
    expect(await columnsOf(database.sql)).toContain('note');
    await next.write('0002_last.sql', OUTSIDE);
    await migrate(database.url, silentLog, { folder: next.path });
    expect(await isValid(database.sql)).toBe(true);
  });
});

/** `migrate` in a process of its own, to be killed. */
function startMigrate(url: string): { pid: number; end(signal?: 'SIGKILL'): Promise<number | null> } {
  const child = spawn(process.execPath, [RUNNER, url, next.path], { stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  return {
    pid: child.pid as number,
    async end(signal) {
      if (signal) child.kill(signal);
      return (await exited)[0];
    },
  };
}

describe('a killed migrate', () => {
  test('in the middle of an index outside a transaction is taken up again, also when the index was left invalid', async () => {
    await next.write('0001_index.sql', OUTSIDE);
    const writer = await database.sql.reserve();
    for (const left of [false, true]) {
      await writer`begin`;
      await writer`update attempts set url = url`;
      const migrating = startMigrate(database.url);
      const backend = await backendOf(database.sql);
      expect(await isValid(database.sql)).toBe(false);
      await migrating.end('SIGKILL');
      // The server's side of a killed client goes on; ended too, it leaves the index invalid.
      if (left) await database.sql`select pg_terminate_backend(${backend}, 60000)`;
      expect(await isValid(database.sql)).toBe(false);
      await writer`commit`;
      await migrate(database.url, silentLog, { folder: next.path, pauseMs: 10 });
      expect(await isValid(database.sql)).toBe(true);
      await database.sql`drop index attempts_by_url`;
      await database.sql`delete from applied_migrations where name = '0001_index.sql'`;
    }
    writer.release();
  });
});

/** The session that waits in the middle of building the index. */
async function backendOf(sql: Sql): Promise<number> {
  for (;;) {
    const [found] = await sql<{ pid: number }[]>`
      select pid from pg_stat_progress_create_index
      where datname = current_database() and phase like 'waiting for%'`;
    if (found) return found.pid;
    await setTimeout(10);
  }
}

/** Null: there is no such index. */
async function isValid(sql: Sql): Promise<boolean | null> {
  const [index] = await sql<{ valid: boolean }[]>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass('carteiro.attempts_by_url')`;
  return index?.valid ?? null;
}
