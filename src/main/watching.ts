/** The watch on the server as a part of `api` and `poll`: it ends a process that finds itself on another one. */
import { watchServer } from '../db/known-server.ts';
import { openPool } from './database.ts';
import { failureOf, type Part, type ServiceDeps, whenFit } from './service.ts';

const DEADLINE_MS = 4_000;
const STOP_TIMEOUT_S = 1;

export function startWatch({ config, database, log, fit }: ServiceDeps): Part {
  const pool = openPool(config, database.url, 'watch', 1, DEADLINE_MS);
  const stopping = new AbortController();
  const running = whenFit(fit, () => watchServer({ pool, log }, stopping.signal));
  return {
    failed: failureOf(running),
    async stop() {
      stopping.abort();
      await pool.close(STOP_TIMEOUT_S);
      await running.catch(() => undefined);
    },
  };
}
