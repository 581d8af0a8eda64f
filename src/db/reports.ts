/**
 * Where reports are read: on a standby, when there is one, so that they do not weigh on the primary.
 *
 * Invariant: an answer that was read behind the primary says how far. The standby itself can't tell: one whose stream is cut has
 * replayed all that it received, and believes that it is abreast. So it is held against the primary's position at that moment; where the primary
 * does not answer, against the clock. Nothing is written here: the server refuses it.
 * One that is away, that is no standby any more (it was promoted), or that is another installation's is not read for `REST_MS`:
 * meanwhile reports fall back to the primary, or fail. What fails on the way is the database out of reach.
 */
import type { Logger } from '../log-lines.ts';
import type { Pool, Tx } from './pool.ts';
import { codeOf, DatabaseUnavailable } from './unavailable.ts';

/** A pool to read from, and how many seconds it is behind the primary; null: it is the primary. */
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

/** Reports that are read on the primary. */
export const onPrimary =
  (pool: Pool): Reports =>
  async () => ({ pool, lagS: null });

/** Reports that are read on the standby. Throws {@link DatabaseUnavailable} when it can't be read, and they do not fall back. */
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

/** How many seconds the standby is behind. Throws when it can't be read for reports, with a sentence. */
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
