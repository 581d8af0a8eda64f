/** Who holds what a migration waits for. */
import type { Tx } from '../sql.ts';

interface Holder {
  readonly pid: number;
  readonly locks: string;
  readonly name: string | null;
  readonly state: string | null;
  readonly seconds: number | null;
  readonly me: string;
}

/**
 * The session that has held a lock on a table of the schema for longest. PostgreSQL shows every session's locks to all, and
 * of another login's session nothing else without pg_monitor: then that is said instead.
 */
export async function readHolder(sql: Tx, schema: string): Promise<string> {
  const [holder] = await sql<Holder[]>`
    select l.pid, a.application_name as name, a.state, extract(epoch from clock_timestamp() - a.xact_start)::int as seconds,
           current_user as me, string_agg(distinct l.mode || ' on ' || c.relname, ', ') as locks
    from pg_locks l
    join pg_class c on c.oid = l.relation and c.relkind in ('r', 'p')
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = ${schema}
    left join pg_stat_activity a on a.pid = l.pid
    where l.granted and l.pid <> pg_backend_pid() and l.database = (select oid from pg_database where datname = current_database())
    group by l.pid, a.application_name, a.state, a.xact_start
    order by a.xact_start
    limit 1`;
  if (holder === undefined) return 'nobody holds a lock on these tables now';
  const { pid, locks, name, state, seconds, me } = holder;
  const session =
    state === null
      ? `pid ${pid}, of another login (\`grant pg_monitor to "${me}"\` lets this one see its name and state)`
      : `pid ${pid}, ${name || 'unnamed'}, ${state}, open for ${seconds} s`;
  return `${session}, holds ${locks}`;
}
