/** The projector as a part of `api`: each process has one, and one of them works at a time. */
import { readProjectorLagS, runProjector } from '../core/projector.ts';
import { openPool } from './database.ts';
import { failureOf, type Part, type ServiceDeps, whenFit } from './service.ts';

/** A turn is 1,000 events; of a projector that is cut off, its server ends the transaction, and with it the lock. */
const DEADLINE_MS = 15_000;
/** The second is for the lag's reading, which no turn must hold up. */
const CONNECTIONS = 2;
/** A turn that is cut is rolled back and taken again by the next projector. */
const STOP_TIMEOUT_S = 1;

export function startProjector({ config, database, log, metrics, fit }: ServiceDeps): Part {
  const pool = openPool(config, database.url, 'projector', CONNECTIONS, DEADLINE_MS);
  const stopping = new AbortController();
  metrics.watch('projector_lag_seconds', () => pool.run(readProjectorLagS));
  const running = whenFit(fit, () => runProjector({ pool, log }, stopping.signal));
  return {
    failed: failureOf(running),
    async stop() {
      stopping.abort();
      await pool.close(STOP_TIMEOUT_S);
      await running.catch(() => undefined);
    },
  };
}
