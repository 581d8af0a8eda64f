/**
 * The settings of `api` that an auditor asks about, kept when a start finds others; none is secret. A failure delays no API: it is retried.
 */
import type { Config } from '../../config.ts';
import { runLoop } from '../../db/outage-log.ts';
import type { Pool } from '../../db/pool.ts';
import type { Logger } from '../../log-lines.ts';

const AFTER_FAULT_MS = 15_000;
const TOLD = [
  'allowInsecureTargets',
  'checkpointHeader',
  'documentsDeadlineDays',
  'eraseAfterYears',
  'failingPolicy',
  'jobs',
  'jwtAudience',
  'jwtIssuer',
  'keepMonths',
  'loanCore',
  'marginReuseHours',
  'quarantine',
  'rateLimitPerMinute',
  'sandbox',
] as const satisfies readonly (keyof Config)[];

/** Tries until it is kept, or `signal` is aborted. */
export async function keepSettings(
  { pool, log }: { readonly pool: Pool; readonly log: Logger },
  config: Config,
  signal: AbortSignal,
): Promise<void> {
  const value = JSON.stringify(Object.fromEntries(TOLD.map((name) => [name, config[name]])));
  const kept = new AbortController();
  const what = 'the settings could not be kept in the history';
  const loop = { log, afterFaultMs: AFTER_FAULT_MS, away: what, fault: what };
  await runLoop(loop, AbortSignal.any([signal, kept.signal]), async () => {
    await pool.run(
      (sql) => sql`
        insert into system_history (about, name, value, actor)
        select 'configuracao', 'api', ${value}, session_user
        where ${value} is distinct from (
          select value from system_history where about = 'configuracao' and name = 'api' order by position desc limit 1)`,
    );
    kept.abort();
    return 0;
  });
}
