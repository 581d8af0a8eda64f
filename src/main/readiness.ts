import { pendingMigrations } from '../db/pending-migrations.ts';
import type { Pool } from '../db/pool.ts';

/** For `/readyz`: null when the database answers and is migrated, else what is missing. */
export function readiness(pool: Pool): () => Promise<string | null> {
  return async () => {
    const pending = await pool.run((sql) => pendingMigrations(sql, pool.schema));
    return pending === 0 ? null : `${pending} migrations are pending`;
  };
}
