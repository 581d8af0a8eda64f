/** Raw connections, for arranging and asserting. */
import postgres from 'postgres';
import type { Sql } from '../../src/db/pool.ts';
import { endOf } from './ends.ts';

/** One connection that sees our schema, unless `options` say otherwise; ended with the test or the file that opened it. */
export function connectTo(url: string, options: postgres.Options<Record<never, never>> = {}): Sql {
  const settings = { max: 1, onnotice: () => undefined, connection: { search_path: 'carteiro' } };
  const sql = postgres(url, { ...settings, ...options });
  endOf(() => sql.end({ timeout: 1 }));
  return sql;
}
