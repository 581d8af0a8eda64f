/**
 * The settings that an auditor asks about, kept whenever a start finds others than the one before it. None of them is a secret. A
 * database that takes no row keeps no API from starting: the next start finds them again.
 */
import type { Config } from '../../config.ts';
import type { Pool } from '../../db/pool.ts';
import type { Logger } from '../../log-lines.ts';

const TOLD = [
  'allowInsecureTargets',
  'checkpointHeader',
  'documentsDeadlineDays',
  'eraseAfterYears',
  'failingPolicy',
  'jobs',
  'jwtAudience',
  'jwtIssuer',
  'loanCore',
  'marginReuseHours',
  'quarantine',
  'rateLimitPerMinute',
  'sandbox',
] as const satisfies readonly (keyof Config)[];

export async function keepSettings(
  { pool, log }: { readonly pool: Pool; readonly log: Logger },
  process: string,
  config: Config,
): Promise<void> {
  const value = JSON.stringify(Object.fromEntries(TOLD.map((name) => [name, config[name]])));
  const keep = pool.run(
    (sql) => sql`
      insert into system_history (about, name, value, actor)
      select 'configuracao', ${process}, ${value}, session_user
      where ${value} is distinct from (
        select value from system_history where about = 'configuracao' and name = ${process} order by position desc limit 1)`,
  );
  await keep.catch((error: unknown) => log.warn({ err: error }, 'the settings could not be kept in the history'));
}
