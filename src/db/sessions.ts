import type { Tx } from './pool.ts';

/** The server's sessions, and the maximum for a login without special rights. */
export async function readSessions(sql: Tx): Promise<{ readonly sessions: number; readonly most: number }> {
  const [found] = await sql<[{ sessions: number; most: number }]>`
    select case when pg_has_role('pg_read_all_stats', 'usage')
             then (select count(*)::int from pg_stat_activity where backend_type = 'client backend')
             else (select sum(numbackends)::int from pg_stat_database)
           end as sessions,
           current_setting('max_connections')::int - current_setting('reserved_connections')::int
             - current_setting('superuser_reserved_connections')::int as most`;
  return found;
}
