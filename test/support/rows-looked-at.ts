/** How many rows a reading looks at: counted by the server for each table, whether a scan or an index led to them. */
import { Pool, type Sql } from '../../src/db/pool.ts';

/** A session goes over to a generic plan after five runs of a statement, so each plan has two turns or more. */
const TURNS = 7;

/** A session that made the rows would tell what it read up to 10 s later, in the middle of a count. */
export async function tellRowsNow(sql: Sql): Promise<void> {
  const sessions = await Promise.all([1, 2, 3, 4].map(() => sql.reserve()));
  for (const session of sessions) {
    await session`select pg_stat_force_next_flush()`;
    session.release();
  }
}

/**
 * The most rows that two of several runs of `read` looked at: a single one above them is what another session, or a backend
 * that has just ended, told late.
 */
export async function rowsLookedAt(url: string, read: (pool: Pool) => Promise<unknown>): Promise<number> {
  const pool = new Pool({ url, name: 'carteiro test', max: 1, deadlineMs: 60_000 });
  try {
    const total = () =>
      pool.run(async (session) => {
        await session`select pg_stat_force_next_flush()`;
        const [row] = await session<[{ rows: number }]>`
          select (select sum(seq_tup_read) from pg_stat_user_tables)::float8
                 + (select sum(idx_tup_read) from pg_stat_user_indexes)::float8 as rows`;
        return row.rows;
      });
    const looked: number[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      const before = await total();
      await read(pool);
      looked.push((await total()) - before);
    }
    return looked.toSorted((one, other) => other - one)[1] ?? Number.NaN;
  } finally {
    await pool.close(1);
  }
}
