/** Login roles for tests: each a member of the product's roles that are named, with no other rights. */
import { randomBytes } from 'node:crypto';
import type { TestDatabase } from './database.ts';
import { endOf } from './ends.ts';

export type HouseRole = 'carteiro_app' | 'carteiro_poller' | 'carteiro_core' | 'carteiro_auditor';

export interface Login {
  readonly url: string;
  /** Call it before the database is dropped. */
  remove(): Promise<void>;
}

export async function createLogin({ sql, url }: Pick<TestDatabase, 'sql' | 'url'>, ...roles: string[]): Promise<Login> {
  const name = `carteiro_test_login_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await sql.unsafe(`create role ${name} login password '${password}'`);
  if (roles.length > 0) await sql.unsafe(`grant ${roles.join(', ')} to ${name}`);
  const own = new URL(url);
  own.username = name;
  own.password = password;
  const remove = endOf(async () => {
    // A session that has just been left may still be putting away its temporary tables.
    await sql`select pg_terminate_backend(pid, 30000) from pg_stat_activity where usename = ${name}`;
    await sql.unsafe(`drop role ${name}`);
  });
  return { url: own.href, remove };
}
