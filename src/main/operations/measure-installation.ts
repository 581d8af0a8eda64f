/** What else the database knows: processes, lags, seals, the last verdicts, sizes, epoch, migrations and jobs. */
import { readAnchors } from '../../audit/anchor/run-anchors.ts';
import { readBalanceStanding } from '../../audit/balance-verdicts.ts';
import { readStanding } from '../../audit/seals/verdicts.ts';
import { pendingMigrations } from '../../db/migrations/pending-migrations.ts';
import { readHeldTransactions } from '../../db/held-rows.ts';
import { readClockSkewS } from '../../db/clock-skew.ts';
import type { Tx } from '../../db/pool.ts';
import { readSessions } from '../../db/sessions.ts';
import type { Readings, Sample } from '../../telemetry/readings.ts';
import { ownEnds } from '../../webhooks/certificates.ts';
import { type Role, ROLES } from './checks.ts';
import { readProjectorLagS } from '../../core/projection/projector.ts';
import { readOldestDueS } from '../../delivery/queue/oldest-due.ts';
import { type JobStanding, readJobs } from '../../admin/jobs.ts';
import { readProcesses } from './heartbeat.ts';

const SHOWN = 100;

/** The processes of the last hour. One that stops deletes its row; a killed one's row stays. */
export async function measureProcesses(sql: Tx): Promise<Readings> {
  const seen = await readProcesses(sql);
  const count = (role: Role, isAlive: boolean) =>
    seen.filter((one) => one.role === role && one.isAlive === isAlive).length;
  return {
    processes: ROLES.flatMap((role) => [
      { labels: { role, state: 'alive' }, value: count(role, true) },
      { labels: { role, state: 'lost' }, value: count(role, false) },
    ]),
    heartbeats: seen
      .slice(0, SHOWN)
      .map(({ name: process, role, version, ageS }) => ({ labels: { process, role, version }, value: ageS })),
    ownCertificates: (await ownEnds(sql)).map(({ setting, validUntil }) => ({
      labels: { setting },
      value: (validUntil.getTime() - Date.now()) / 1_000,
    })),
  };
}

/**
 * The age of the oldest row that no seal covers. An event's id tells its time, which saves an index. Rows older than the last seal
 * may have been held out of it by an older transaction; those are found by their transaction.
 */
export async function readSealLagS(sql: Tx): Promise<number> {
  const [{ lagS }] = await sql<[{ lagS: number }]>`
    with last as materialized (
      select coalesce(max(sealed_at), 'epoch') as sealed_at, coalesce(max(end_epoch), 0) as epoch, coalesce(max(end_tx), 0) as tx
      from (select sealed_at, end_epoch, end_tx from seals order by number desc limit 1) newest
    ),
    first_id as materialized (
      select (lpad(to_hex((extract(epoch from sealed_at) * 1000)::bigint + 1), 12, '0') || repeat('0', 20))::uuid as id
      from last
    )
    select coalesce(extract(epoch from now() - coalesce(
             least(
               (select recorded_at from attempts where recorded_at > (select sealed_at from last) order by recorded_at limit 1),
               (select uuid_extract_timestamp(id) from events where id >= (select id from first_id) order by id limit 1)
             ),
             least(
               (select min(recorded_at) from attempts
                where (epoch, xid8send(tx)::bigint) >= ((select epoch from last), (select tx from last))),
               (select min(uuid_extract_timestamp(id)) from events
                where (epoch, xid8send(tx)::bigint) >= ((select epoch from last), (select tx from last)))
             ))), 0)::float8 as "lagS"`;
  return Math.max(lagS, 0);
}

/** How far the projection is behind the log, and deliveries are behind their time. */
export async function measureLags(sql: Tx): Promise<Readings> {
  return { projectorLag: one(await readProjectorLagS(sql)), oldestDue: one(await readOldestDueS(sql)) };
}

export async function measureSeals(sql: Tx): Promise<Readings> {
  return { sealLag: one(await readSealLagS(sql)) };
}

export async function measureAnchors(sql: Tx): Promise<Readings> {
  const anchors = await readAnchors(sql);
  return { anchorLag: anchors.map(({ kind, lagS }) => ({ labels: { kind }, value: lagS })) };
}

export async function measureBalance(sql: Tx): Promise<Readings> {
  const standing = await readBalanceStanding(sql);
  return {
    balanceAge: one(standing?.ageS ?? (await readAgeS(sql))),
    ...(standing && { balanceCloses: one(Number(standing.closes)), balanceDifferences: one(standing.differences) }),
  };
}

export async function measureVerify(sql: Tx): Promise<Readings> {
  const standing = await readStanding(sql);
  return {
    verifyAge: one(standing?.ageS ?? (await readAgeS(sql))),
    ...(standing && { verifyHolds: one(Number(standing.holds)), verifyFindings: one(standing.findings) }),
  };
}

const one = (value: number): readonly Sample[] => [{ value }];

/** Of the installation. */
async function readAgeS(sql: Tx): Promise<number> {
  const [{ ageS }] = await sql<[{ ageS: number }]>`
    select extract(epoch from now() - min(applied_at))::float8 as "ageS" from applied_migrations`;
  return Math.max(ageS, 0);
}

/** Sizes, and PostgreSQL's last estimates of rows. Waits behind an ACCESS EXCLUSIVE lock. */
export async function measureTables(sql: Tx): Promise<Readings> {
  const rows = await sql<{ name: string; bytes: number | null; rows: number }[]>`
    select relname as name, greatest(reltuples, 0)::float8 as rows,
           case relkind when 'r' then pg_total_relation_size(oid)::float8 end as bytes
    from pg_class
    where relnamespace = current_schema()::regnamespace
      and (relkind = 'r' or relname = 'deliveries_stopped')
    order by relname`;
  return {
    tableBytes: rows.flatMap(({ name, bytes }) => (bytes === null ? [] : [{ labels: { table: name }, value: bytes }])),
    tableRows: rows.map(({ name, rows: value }) => ({ labels: { table: name }, value })),
  };
}

export async function measureInstallation(sql: Tx, schema: string): Promise<Readings> {
  const [{ epoch }] = await sql<[{ epoch: number }]>`select current_epoch() as epoch`;
  const { sessions, most } = await readSessions(sql);
  return {
    sessions: one(sessions),
    sessionsMost: one(most),
    heldBack: one(await readHeldTransactions(sql)),
    epoch: one(epoch),
    clockSkew: one(await readClockSkewS(sql, Date.now)),
    pendingMigrations: one(await pendingMigrations(sql, schema)),
  };
}

/** One that is off has no sample. */
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
