/** The state of the jobs that `api` runs by itself: for the metrics, the doctor and the operators' routes. */
import type { Tx } from '../db/pool.ts';

export interface JobStanding {
  readonly name: string;
  /** Five cron fields in São Paulo's time; null: off. */
  readonly schedule: string | null;
  readonly nextAt: Date | null;
  readonly endedAt: Date | null;
  /** Of the last run; null before the first. */
  readonly exitCode: number | null;
  readonly durationS: number | null;
  /** Since it should have begun; 0 while it is not due or runs. */
  readonly overdueS: number;
  /** Since its last success; before the first, since it is known. */
  readonly succeededS: number;
  readonly isRunning: boolean;
  readonly result: string | null;
}

export async function readJobs(sql: Tx): Promise<readonly JobStanding[]> {
  return sql<JobStanding[]>`
    select name, schedule, next_at as "nextAt", ended_at as "endedAt", exit_code as "exitCode", result,
           extract(epoch from ended_at - started_at)::float8 as "durationS",
           coalesce(run_until > now(), false) as "isRunning",
           case when run_until > now() then 0
             else greatest(extract(epoch from now() - coalesce(next_at, now())), 0) end::float8 as "overdueS",
           greatest(extract(epoch from now() - coalesce(succeeded_at, known_at)), 0)::float8 as "succeededS"
    from scheduled_jobs order by name`;
}
