import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { migrate } from '../../src/db/migrations/migrate.ts';
import { refuseUnfit } from '../../src/db/fitness/server-settings.ts';
import { readMigrationFiles } from '../../src/db/migrations/migration-files.ts';
import { pendingMigrations } from '../../src/db/migrations/pending-migrations.ts';
import type { Sql } from '../../src/db/pool.ts';
import { untilFit } from '../../src/main/service/fitness.ts';
import { connectTo } from '../support/connect.ts';
import { createEmptyDatabase, openPool } from '../support/database.ts';
import { silentLog } from '../support/silent-log.ts';

test('the files are read by a process of 64 descriptors', async () => {
  const files = path.resolve(import.meta.dirname, '../../src/db/migrations/migration-files.ts');
  const reads = `import('${files}').then(({ readMigrationFiles }) => readMigrationFiles())`;
  const limited = ['-c', 'ulimit -n 64; exec "$0" --eval "$1"', process.execPath, reads];
  await expect(promisify(execFile)('sh', limited)).resolves.toMatchObject({ stderr: '' });
});

describe('migrations', () => {
  let empty: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let sql: Sql;

  beforeAll(async () => {
    empty = await createEmptyDatabase();
    sql = connectTo(empty.url, { connection: {} });
  });

  it('are all pending in an empty database, and applied once by eight migrators at the same time', async () => {
    const files = await readMigrationFiles();
    expect(await pendingMigrations(sql)).toBe(files.length);
    await Promise.all(Array.from({ length: 8 }, () => migrate(empty.url, silentLog, { pauseMs: 10 })));
    expect(await pendingMigrations(sql)).toBe(0);
    const applied = await sql<{ name: string }[]>`select name from carteiro.applied_migrations order by position`;
    expect(applied.map(({ name }) => name)).toEqual(files.map(({ name }) => name));
  });

  it('leave no lock behind', async () => {
    const locks = await sql`
      select 1 from pg_locks
      where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;
    expect(locks).toHaveLength(0);
  });

  it('that the database lost are pending again', async () => {
    const [lost] = await sql`
      delete from carteiro.applied_migrations where name like '%baseline%' returning name, hash`;
    expect(await pendingMigrations(sql)).toBe(1);
    await sql`insert into carteiro.applied_migrations ${sql(lost as object)}`;
    expect(await pendingMigrations(sql)).toBe(0);
  });

  it('are refused by a server that takes reads only, with what to do', async () => {
    const { url } = await createEmptyDatabase();
    await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`);
    await expect(migrate(url, silentLog)).rejects.toThrow('lead DATABASE_URL to the primary');
  });

  it('take as long as they need, whatever timeouts the operator has set', async () => {
    const patient = await createEmptyDatabase();
    const name = new URL(patient.url).pathname.slice(1);
    await sql`alter database ${sql(name)} set transaction_timeout = '20ms'`;
    await sql`alter database ${sql(name)} set statement_timeout = '1ms'`;
    await expect(migrate(patient.url, silentLog)).resolves.toBeUndefined();
  });

  it('are refused on a server that would lose acknowledged commits', async () => {
    await sql.begin(async (tx) => {
      await tx`set local synchronous_commit = off`;
      await expect(refuseUnfit(tx)).rejects.toThrow('synchronous_commit = off loses acknowledged commits');
      await tx`set local synchronous_commit = local`;
      await expect(refuseUnfit(tx)).rejects.toThrow('synchronous_commit = local loses acknowledged commits');
      for (const survives of ['remote_write', 'remote_apply', 'on']) {
        await tx`select set_config('synchronous_commit', ${survives}, true)`;
        await expect(refuseUnfit(tx)).resolves.toBeUndefined();
      }
    });
    await expect(refuseUnfit(sql)).resolves.toBeUndefined();
  });

  it('are not waited for on a server that does not know what our sessions set', async () => {
    const settings = { setting_of_the_next_version: '1' };
    const pool = openPool(empty.url, { name: 'too new', settings });
    const { signal } = new AbortController();
    await expect(untilFit(pool, silentLog, signal)).rejects.toThrow(
      /"setting_of_the_next_version": the server must be PostgreSQL 18/,
    );
  });
});
