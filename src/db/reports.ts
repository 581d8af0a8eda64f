/**
 * Where reports are read: on a standby if there is one, to spare the primary.
 * Invariant: an answer read behind the primary says how far. A standby whose stream is cut believes itself up to date, so it is compared
 * with the primary's position now; without the primary, with the clock. The server refuses writes.
 * A standby that is away, was promoted, or belongs to another installation is not read for `REST_MS`; meanwhile reports fall back to the
 * primary, or fail as for an unreachable database.
 */
import type { Logger } from '../log-lines.ts';
import type { Pool, Tx } from './pool.ts';
import { codeOf, DatabaseUnavailable } from './unavailable.ts';

/** A pool to read from, and its lag in seconds; null: the primary. */
export interface Reading {
  readonly pool: Pool;
  readonly lagS: number | null;
}

export type Reports = () => Promise<Reading>;

const REST_MS = 5_000;

export interface StandbyOptions {
  readonly primary: Pool;
  readonly standby: Pool;
  readonly fallsBack: boolean;
  readonly log: Logger;
  readonly monotonicMs?: () => number;
}

export const onPrimary =
  (pool: Pool): Reports =>
  async () => ({ pool, lagS: null });

/** Throws {@link DatabaseUnavailable} when the standby cannot be read and there is no fallback. */
export function onStandby({
  primary,
  standby,
  fallsBack,
  log,
  monotonicMs = () => performance.now(),
}: StandbyOptions): Reports {
  let restsUntilMs = -Infinity;
  return async () => {
    if (monotonicMs() >= restsUntilMs) {
      try {
        return { pool: standby, lagS: await readLagS(primary, standby) };
      } catch (error) {
        restsUntilMs = monotonicMs() + REST_MS;
        const then = fallsBack ? 'reports are read on the primary' : 'reports are answered 503';
        log.warn({ reason: codeOf(error), detail: (error as Error).message }, `the standby can't be read: ${then}`);
      }
    }
    if (fallsBack) return { pool: primary, lagS: null };
    throw new DatabaseUnavailable('the standby that reports are read on is out of reach');
  };
}

/** The standby's lag in seconds. Throws a sentence when it cannot be read for reports. */
export async function readLagS(primary: Pool, standby: Pool): Promise<number> {
  const position = (sql: Tx) => sql<[{ lsn: string; installation: string }]>`
    select pg_current_wal_insert_lsn()::text as lsn, (select system_identifier::text from installation) as installation`;
  const wanted = await primary.run(position).then(
    ([row]) => row,
    () => null,
  );
  const [found] = await standby.run(
    (sql) => sql<[{ isStandby: boolean; installation: string; isAbreast: boolean; lagS: number }]>`
      select pg_is_in_recovery() as "isStandby", (select system_identifier::text from installation) as installation,
             coalesce(pg_last_wal_replay_lsn() >= ${wanted?.lsn ?? null}::pg_lsn, false) as "isAbreast",
             extract(epoch from clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time()))::float8 as "lagS"`,
  );
  if (!found.isStandby) throw new Error('READ_DATABASE_URL leads to no standby');
  if (wanted !== null && wanted.installation !== found.installation)
    throw new Error('READ_DATABASE_URL leads to the standby of another installation');
  return found.isAbreast ? 0 : Math.max(0.1, Math.ceil(found.lagS * 10) / 10);
}
