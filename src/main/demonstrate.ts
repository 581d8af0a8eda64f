/** `npm run demo`: everything on free ports, in a folder that is gone afterwards. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, readConfig } from '../config.ts';
import { SCOPES } from '../contract/statuses.ts';
import { walk } from '../demo/walk.ts';
import { openLocalKeys } from '../http/keys-local.ts';
import { createLogger } from '../log-lines.ts';
import { createMetrics } from '../metrics.ts';
import { openDatabase, openPool } from './database.ts';
import { ensureSandboxPartner } from './partners.ts';
import { type Part, startApi, startPoller } from './service.ts';

/** Runs the demonstration and prints it; true only if everything was seen. */
export async function demonstrate(print: (text: string) => void): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), 'carteiro-demo-'));
  const config = readConfig({ DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error' });
  print('Carteiro demonstration: an embedded PostgreSQL, the API and a poller, in a temporary folder');
  try {
    return await runIn(config, print);
  } catch (error) {
    print(`NOT SEEN: ${(error as Error).message}`);
    return false;
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function runIn(config: Config, print: (text: string) => void): Promise<boolean> {
  const log = createLogger(config.logLevel);
  const database = await openDatabase(config, log);
  const pool = openPool(config, database.url, 'demo', 1, 10_000);
  const parts: Part[] = [];
  try {
    const deps = { config, database, log, metrics: createMetrics(), fit: Promise.resolve(true) };
    const api = await startApi(deps);
    parts.push(api, await startPoller(deps));
    const partner = await pool.run(ensureSandboxPartner);
    const { dataDir, jwtIssuer: issuer, jwtAudience: audience } = config;
    const keys = await openLocalKeys({ dataDir, issuer, audience });
    const token = await keys.signToken({ partnerId: partner.id, scopes: SCOPES, ttlSeconds: 600 });
    const readAttempts = () =>
      pool.run(
        (sql) => sql`
          select m.type as evento, a.number as tentativa, a.outcome as resultado, a.status_code as status,
                 a.duration_ms || ' ms' as duracao, a.url, left(a.delivery_id::text, 13) || '…' as entrega
          from attempts a
          join deliveries d on d.id = a.delivery_id
          join messages m on m.event_id = d.event_id
          order by a.recorded_at, a.number`,
      );
    return await walk({ url: api.url, token, print, readAttempts });
  } finally {
    await Promise.all(parts.map((part) => part.stop()));
    await pool.close();
    await database.close();
  }
}
