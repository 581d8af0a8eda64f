/** The sealer as a part of `api` and `poll`: each process has one, and one of them works at a time. */
import { runSealer } from '../audit/sealer.ts';
import { openPool } from './database.ts';
import { failureOf, type Part, type ServiceDeps, whenFit } from './service.ts';

/** A turn hashes some 65,000 rows in 0.2 s; the first ones of a large backlog may be read from disk. */
const DEADLINE_MS = 10_000;
/** A turn that is cut is rolled back and done again by the next sealer, so a stop need not wait for a silent network. */
const STOP_TIMEOUT_S = 1;

export function startSealer({ config, database, log, fit }: ServiceDeps): Part {
  const pool = openPool(config, database.url, 'sealer', 1, DEADLINE_MS);
  const stopping = new AbortController();
  const running = whenFit(fit, () => runSealer({ pool, log }, stopping.signal));
  return {
    failed: failureOf(running),
    async stop() {
      stopping.abort();
      await pool.close(STOP_TIMEOUT_S);
      await running.catch(() => undefined);
    },
  };
}
