/** The newest seals, and how much they cover. */
import type { Pool } from '../../db/pool.ts';
import type { Seal } from './chain.ts';
import { sealColumns } from './seal.ts';

/** Newest first. */
export async function readNewestSeals(pool: Pool, limit: number): Promise<Seal[]> {
  return pool.run((sql) => sql<Seal[]>`select ${sealColumns(sql)} from seals order by number desc limit ${limit}`);
}

/** Rows of all seals together. */
export async function countSealedRows(pool: Pool): Promise<number> {
  const [row] = await pool.run(
    (sql) => sql<[{ rows: number }]>`select coalesce(sum(rows), 0)::float8 as rows from seals`,
  );
  return row.rows;
}
