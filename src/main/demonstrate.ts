/** `npm run demo`: everything on free ports, in a folder that is gone afterwards. */
import { type Config, readConfig } from '../config.ts';
import { SCOPES } from '../contract/statuses.ts';
import { makeHeldFolder, sweepHeldFolders } from '../db/embedded/held-folder.ts';
import { walk } from '../demo/walk.ts';
import { openLocalKeys } from '../http/auth/keys-local.ts';
import { createLogger, type Logger } from '../log-lines.ts';
import { createMetrics } from '../metrics.ts';
import { openDatabase, openPool } from './service/database.ts';
import { ensureSandboxPartner } from '../steering/partners.ts';
import { reasonOf } from './reason.ts';
import { type Part, startApi, startPoller } from './service/service.ts';
import { unlessStopped } from './service/stop-signals.ts';
import { showDrain, startStopping, type Stopping } from './service/stopping.ts';

const FOLDERS = 'carteiro-demo-';

/** Runs the demonstration and prints it; true only if everything was seen. */
export async function demonstrate(print: (text: string) => void): Promise<boolean> {
  // One that was killed left its folder, with a server in it.
  await sweepHeldFolders(FOLDERS);
  const folder = await makeHeldFolder(FOLDERS);
  const config = readConfig({ DATA_DIR: folder.path, PORT: '0', LOG_LEVEL: 'error' });
  const log = createLogger(config.logLevel);
  const stopping = startStopping(log, () => folder.remove());
  print('Carteiro demonstration: an embedded PostgreSQL, the API and a poller, in a temporary folder');
  try {
    return await runIn(config, log, stopping, print);
  } catch (error) {
    print(`NOT SEEN: ${reasonOf(error)}`);
    return false;
  } finally {
    await folder.remove();
  }
}

async function runIn(config: Config, log: Logger, stopping: Stopping, print: (text: string) => void): Promise<boolean> {
  const opening = openDatabase(config, log, stopping.signal);
  stopping.closes(opening);
  const database = await opening;
  const pool = openPool(config, database.url, 'demo', 1, 10_000);
  const parts: Part[] = [];
  try {
    const deps = {
      config,
      database,
      log,
      metrics: createMetrics(),
      fit: Promise.resolve(true),
      leaving: stopping.signal,
    };
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
    return await unlessStopped(stopping.signal, walk({ url: api.url, token, print, readAttempts }));
  } finally {
    const drained = showDrain(parts);
    await Promise.all(parts.map((part) => part.stop()));
    await pool.close();
    await database.close();
    drained();
  }
}
