import type { Config } from '../config.ts';
import { setCap } from '../delivery/cap.ts';
import type { Logger } from '../log-lines.ts';
import { openDatabase, openPool } from './database.ts';

/** Sets a webhook's cap. Throws when there is no such webhook. */
export async function runSetCap(config: Config, log: Logger, webhookId: string, maxInFlight: number): Promise<void> {
  const database = await openDatabase(config, log);
  const pool = openPool(config, database.url, 'command', 1, 10_000);
  try {
    if (!(await pool.run((sql) => setCap(sql, webhookId, maxInFlight)))) {
      throw new Error(`there is no webhook ${webhookId}: GET /v1/webhooks lists a partner's`);
    }
  } finally {
    await pool.close();
    await database.close();
  }
}
