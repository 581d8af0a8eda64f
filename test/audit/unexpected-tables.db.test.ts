/** What stands in a table's place, and what no row may say. */
import { expect, test } from 'vitest';
import { findUnexpectedTables } from '../../src/audit/seals/tables.ts';
import { createTestDatabase } from '../support/database.ts';

test('a rule is a finding while it is there, and none when it was dropped', async () => {
  const { pool, sql } = await createTestDatabase();
  await sql`create rule silent as on insert to attempts do instead nothing`;
  expect(await pool.run(findUnexpectedTables)).toMatchObject([
    { tabela: 'attempts', detalhe: 'a rule changes its statements' },
  ]);
  await sql`drop rule silent on attempts`;
  expect(await pool.run(findUnexpectedTables)).toEqual([]);
});

test('no sealed row has a time without end', async () => {
  const { sql } = await createTestDatabase();
  const times = await sql<{ table: string; column: string }[]>`
    select c.relname as table, a.attname as column from pg_attribute a join pg_class c on c.oid = attrelid
    where relname in ('attempts', 'webhook_history', 'seals') and relnamespace = 'carteiro'::regnamespace
      and atttypid = 'timestamptz'::regtype and attnum > 0
      and (has_column_privilege('carteiro_poller', c.oid, attnum, 'insert') or has_column_privilege('carteiro_app', c.oid, attnum, 'insert'))`;
  expect(times.length).toBeGreaterThanOrEqual(4);
  const checks = await sql<{ table: string; text: string }[]>`
    select conrelid::regclass::text as table, pg_get_constraintdef(oid) as text from pg_constraint where contype = 'c'`;
  for (const { table, column } of times) {
    const bounded = checks.filter((found) => found.table === table && found.text.includes(`isfinite(${column})`));
    expect([table, column, bounded.length]).toEqual([table, column, 1]);
  }
});
