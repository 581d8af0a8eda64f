/**
 * Runs the jobs (settings/job-schedules.ts). Every `api` may; the job's row in `scheduled_jobs` says which one does.
 *
 * Invariant: one process runs a job at a time. It writes its name and a lease of LEASE_S into the row, and renews the lease
 * while the job runs; if it finds its lease gone, it stops the job. A time set while the job runs (end_erasure.sql) stays. A job
 * that takes longer than its `longestS` is killed and counts as failed.
 *
 * Crash: the lease ends, `next_at` is still in the past, and any process runs the job again; all jobs may be repeated.
 * Alternatives: a lock of PostgreSQL needs an open transaction, which holds back vacuum and seals, or a session, which PgBouncer
 * does not give. Functions in place of child processes: `verify` and `archive` would not give their memory back.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import path from 'node:path';
import { runLoop } from '../../db/outage-log.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import type { Logger } from '../../log-lines.ts';
import { EXIT } from '../command.ts';
import { JOB_NAMES, type JobName, JOBS, nextAfter, type Schedules } from '../../settings/job-schedules.ts';

export const EVERY_MS = 15_000;
const LEASE_S = 60;
const RENEW_MS = 20_000;
/** What failed, and is no verdict, is tried again. */
const RETRY_S = 600;
/** What a job has to leave after SIGTERM. */
const LEAVE_MS = 30_000;
/** Of what a job prints. */
const KEPT = 2_000;
const MAIN = path.resolve(import.meta.dirname, '../../main.ts');

export interface Ended {
  readonly exitCode: number;
  readonly result: string;
}

export interface JobsDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly schedules: Schedules;
  /** Runs a command line until `stopping`; a process of its own unless it is given. */
  readonly run?: (words: readonly string[], stopping: AbortSignal) => Promise<Ended>;
  /** For tests: how long a job may run, in milliseconds, in place of its `longestS`. */
  readonly longestMs?: number;
}

/** Runs what is due until `stopping`, through outages too. */
export async function runJobs(deps: JobsDeps, stopping: AbortSignal): Promise<void> {
  const away = 'the database is out of reach, looking for jobs later';
  const loop = { log: deps.log, afterFaultMs: EVERY_MS, away, fault: 'the jobs could not be run' };
  await runLoop(loop, stopping, async () => {
    await runDue(deps, stopping);
    return EVERY_MS;
  });
}

/** Runs the due jobs that no other process runs, one after the other. */
export async function runDue(deps: JobsDeps, stopping: AbortSignal): Promise<void> {
  const { pool, schedules } = deps;
  const now = await pool.run((sql) => keepSchedules(sql, schedules));
  for (const name of JOB_NAMES) {
    if (stopping.aborted) return;
    const me = `${hostname()}-${process.pid}`;
    if (await pool.run((sql) => take(sql, name, me))) await runTaken(deps, name, me, now, stopping);
  }
}

/** Writes the schedules of this process's settings where they changed. Returns the database's time. */
async function keepSchedules(sql: Tx, schedules: Schedules): Promise<Date> {
  const [{ now }] = await sql<[{ now: Date }]>`select now() as now`;
  const rows = JOB_NAMES.map((name) => {
    const schedule = schedules[name];
    return { name, schedule, nextAt: schedule === null ? null : nextAfter(schedule, now) };
  });
  await sql`
    insert into scheduled_jobs as job (name, schedule, next_at)
    select * from unnest(${rows.map(({ name }) => name)}::text[], ${rows.map(({ schedule }) => schedule)}::text[],
                         ${rows.map(({ nextAt }) => nextAt?.toISOString() ?? null)}::timestamptz[])
    on conflict (name) do update set schedule = excluded.schedule, next_at = excluded.next_at
    where job.schedule is distinct from excluded.schedule`;
  return now;
}

async function take(sql: Tx, name: JobName, me: string): Promise<boolean> {
  const taken = await sql`
    update scheduled_jobs
    set run_by = ${me}, run_until = now() + ${LEASE_S} * interval '1 second', started_at = now()
    where name = ${name} and next_at <= now() and (run_until is null or run_until <= now())
    returning name`;
  return taken.length === 1;
}

async function runTaken(deps: JobsDeps, name: JobName, me: string, now: Date, stopping: AbortSignal): Promise<void> {
  const { pool, log, run = runCommandLine } = deps;
  const lost = new AbortController();
  const renewing = setInterval(() => {
    pool
      .run((sql) => renew(sql, name, me))
      .then(
        (isMine) => isMine || lost.abort(),
        () => undefined,
      );
  }, RENEW_MS);
  const { words, isVerdict, longestS } = JOBS[name];
  const tooLong = AbortSignal.timeout(deps.longestMs ?? longestS * 1_000);
  log.info({ job: name }, 'a job begins');
  const left = await run(words(now), AbortSignal.any([stopping, lost.signal, tooLong])).finally(() =>
    clearInterval(renewing),
  );
  if (lost.signal.aborted) return;
  const ended = tooLong.aborted ? { exitCode: EXIT.outOfReach, result: `it was ended after ${longestS} s` } : left;
  if (stopping.aborted) {
    // It is due still: another process takes it at once.
    await pool.run(
      (sql) => sql`update scheduled_jobs set run_by = null, run_until = null where name = ${name} and run_by = ${me}`,
    );
    return;
  }
  const isDone = ended.exitCode === EXIT.done || (isVerdict && ended.exitCode === EXIT.refused);
  await pool.run((sql) => finish(sql, name, me, deps.schedules[name], isDone, ended));
  const fields = { job: name, exit_code: ended.exitCode, result: ended.result };
  if (ended.exitCode === EXIT.done) log.info(fields, 'a job has ended');
  else log.error(fields, 'a job has failed');
}

async function renew(sql: Tx, name: JobName, me: string): Promise<boolean> {
  const mine = await sql`
    update scheduled_jobs set run_until = now() + ${LEASE_S} * interval '1 second'
    where name = ${name} and run_by = ${me} returning name`;
  return mine.length === 1;
}

async function finish(
  sql: Tx,
  name: JobName,
  me: string,
  schedule: string | null,
  isDone: boolean,
  { exitCode, result }: Ended,
): Promise<void> {
  const [{ now }] = await sql<[{ now: Date }]>`select now() as now`;
  const next = schedule === null ? null : nextAfter(schedule, now);
  const retry = new Date(now.getTime() + RETRY_S * 1_000);
  const nextAt = isDone || next === null || next < retry ? next : retry;
  await sql`
    update scheduled_jobs
    set run_by = null, run_until = null, ended_at = now(), next_at = case when next_at > started_at then next_at else ${nextAt?.toISOString() ?? null} end,
        exit_code = ${exitCode}, result = ${result}, succeeded_at = case when ${exitCode} = 0 then now() else succeeded_at end
    where name = ${name} and run_by = ${me}`;
}

/** A month's rows are much garbage: without a limit its verification grew to 570 MiB where 300 are enough, at the same pace. */
const LEAN = ['--max-semi-space-size=8', '--max-old-space-size=192'];

async function runCommandLine(words: readonly string[], stopping: AbortSignal): Promise<Ended> {
  const child = spawn(process.execPath, [...LEAN, MAIN, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  let killing: NodeJS.Timeout | undefined;
  const end = () => {
    child.kill('SIGTERM');
    killing = setTimeout(() => child.kill('SIGKILL'), LEAVE_MS);
  };
  stopping.addEventListener('abort', end);
  if (stopping.aborted) end();
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (said = (said + part).slice(0, KEPT)));
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return { exitCode: code ?? EXIT.outOfReach, result: said.trim() };
  } finally {
    clearTimeout(killing);
    stopping.removeEventListener('abort', end);
  }
}
