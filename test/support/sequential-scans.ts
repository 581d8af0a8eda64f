import type { Sql } from '../../src/db/pool.ts';

const HOT = ['deliveries', 'attempts', 'events', 'lanes'];

/**
 * How often each hot table was read from end to end so far. A session hands its counts over when it ends at the latest:
 * close the pool that was watched first.
 */
export async function readSequentialScans(sql: Sql, tables: readonly string[] = HOT): Promise<readonly object[]> {
  await sql`select pg_stat_force_next_flush()`;
  await sql`select pg_stat_clear_snapshot()`;
  return sql`
    select relname as table, seq_scan::int as scans from pg_stat_user_tables
    where relname = any (${tables as string[]}) order by 1`;
}
