import { pendingMigrations } from '../db/migrate.ts';
import type { Pool } from '../db/pool.ts';

/** For `/readyz`: null when the database answers and is migrated, else what is missing. */
export function readiness(pool: Pool): () => Promise<string | null> {
  return async () => {
    const pending = await pool.run(pendingMigrations);
    return pending === 0 ? null : `${pending} migrations are pending`;
  };
}
