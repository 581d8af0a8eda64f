/** The jobs as metrics; one that is off has no sample. */
import type { Tx } from '../../db/pool.ts';
import { type JobStanding, readJobs } from '../../steering/jobs.ts';
import type { Readings } from '../../telemetry/readings.ts';

export async function measureJobs(sql: Tx): Promise<Readings> {
  const jobs = (await readJobs(sql)).filter(({ schedule }) => schedule !== null);
  const of = (value: (job: JobStanding) => number | null) =>
    jobs.flatMap((job) => {
      const found = value(job);
      return found === null ? [] : [{ labels: { job: job.name }, value: found }];
    });
  return {
    jobOverdue: of(({ overdueS }) => overdueS),
    jobSucceeded: of(({ succeededS }) => succeededS),
    jobDuration: of(({ durationS, isRunning }) => (isRunning ? null : durationS)),
    jobExitCode: of(({ exitCode }) => exitCode),
  };
}
