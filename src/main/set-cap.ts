import type { Config } from '../config.ts';
import { setCap } from '../delivery/cap.ts';
import type { Logger } from '../log-lines.ts';
import { withJobPool } from './job-pool.ts';

/** Sets a webhook's cap. Throws when there is no such webhook. */
export async function runSetCap(config: Config, log: Logger, webhookId: string, maxInFlight: number): Promise<void> {
  const isKnown = await withJobPool(config, log, (pool) => pool.run((sql) => setCap(sql, webhookId, maxInFlight)));
  if (!isKnown) throw new Error(`there is no webhook ${webhookId}: GET /v1/webhooks lists a partner's`);
}
