/**
 * What the server has counted of its tables and indexes, exact at the moment of the reading.
 * A session keeps its counts to itself until it ends, or for up to 10 s after its last statement. One that made the rows
 * of a test, and then rests, would tell them in the middle of what another one reads. So every resting session is ended
 * first, and waited for; one in a transaction tells nothing until it ends, and is left alone.
 */
import postgres from 'postgres';
import type { Pool, Sql } from '../../src/db/pool.ts';
import { openPool } from './database.ts';

export interface Counter {
  /** How often a table was read from end to end, or an index searched. */
  readonly scans: number;
  /** How many entries of it, or of any of its indexes, searches gave. */
  readonly entries: number;
}

const HOT = ['deliveries', 'pending', 'attempts', 'events', 'lanes'];
const NOTHING: Counter = { scans: 0, entries: 0 };

/** A session goes over to a generic plan after five runs of a statement, so each plan has a turn or more. */
const TURNS = 7;

/**
 * The counters of every table and index of ours, by name. Ends the resting sessions, so nobody may be about to use one;
 * the one session of a pool that is spared is asked to tell instead.
 */
export async function readCounters(url: string, spared?: Pool): Promise<ReadonlyMap<string, Counter>> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    const [reported] = (await spared?.run(
      (session) => session<[{ pid: number }]>`
      select pg_backend_pid() as pid, pg_stat_force_next_flush()`,
    )) ?? [{ pid: 0 }];
    while ((await endResting(sql, reported.pid)) > 0);
    const rows = await sql<(Counter & { name: string })[]>`
      select relname as name, seq_scan::float8 as scans,
             (select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes i where i.relid = t.relid)::float8 as entries
      from pg_stat_user_tables t
      union all
      select indexrelname, idx_scan::float8, idx_tup_read::float8 from pg_stat_user_indexes`;
    return new Map(rows.map(({ name, scans, entries }) => [name, { scans, entries }]));
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** How many there were. A session is gone when its process is, and by then it has told. */
async function endResting(sql: Sql, spared: number): Promise<number> {
  const ended = await sql`
    select pg_terminate_backend(pid, 10000) from pg_stat_activity
    where datname = current_database() and pid not in (pg_backend_pid(), ${spared})
      and (state = 'idle' or backend_type <> 'client backend')`;
  return ended.length;
}

/** What is counted from now on, of sessions that rest or have ended by the time one asks. */
export async function startCounting(url: string, spared?: Pool) {
  const before = await readCounters(url, spared);
  /** One table or index. */
  async function of(name: string): Promise<Counter> {
    const [was, is] = [before.get(name) ?? NOTHING, (await readCounters(url, spared)).get(name) ?? NOTHING];
    return { scans: is.scans - was.scans, entries: is.entries - was.entries };
  }
  /** Those of the tables, by default the hot ones, that were read from end to end. */
  async function readFromEndToEnd(tables: readonly string[] = HOT): Promise<readonly string[]> {
    const after = await readCounters(url, spared);
    return tables.filter((table) => after.get(table)?.scans !== before.get(table)?.scans);
  }
  return { of, readFromEndToEnd };
}

/** The most rows and index entries that a run of `read` looked at, of several runs in one session. */
export async function rowsScanned(url: string, read: (pool: Pool) => Promise<unknown>): Promise<number> {
  await readCounters(url);
  const pool = openPool(url);
  try {
    const total = () =>
      pool.run(async (session) => {
        await session`select pg_stat_force_next_flush()`;
        const [row] = await session<[{ rows: number }]>`
          select (select sum(seq_tup_read) from pg_stat_user_tables)::float8
                 + (select sum(idx_tup_read) from pg_stat_user_indexes)::float8 as rows`;
        return row.rows;
      });
    let most = 0;
    for (let poll = 0; poll < TURNS; poll += 1) {
      const before = await total();
      await read(pool);
      most = Math.max(most, (await total()) - before);
    }
    return most;
  } finally {
    await pool.close(1);
  }
}
