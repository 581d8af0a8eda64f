/** How many rows there are to seal. */
import { SOURCE_NAMES } from '../../src/db/sealed-rows.ts';
import type { Sql } from '../../src/db/pool.ts';

export async function countSealable(sql: Sql): Promise<number> {
  const counts = await Promise.all(
    SOURCE_NAMES.map((source) => sql<[{ rows: number }]>`select count(*)::int as rows from ${sql(source)}`),
  );
  return counts.reduce((sum, [{ rows }]) => sum + rows, 0);
}
