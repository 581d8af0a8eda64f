/** What runs beside the deliveries: sealer, projector, vacuum; and how fast the disk fills. */
import { readAnchors } from '../../audit/anchor/run-anchors.ts';
import type { Config } from '../../config.ts';
import { readCheckpointKeys, readWorkerKey } from '../service/key-files.ts';
import { readStanding } from '../../audit/seals/verdicts.ts';
import { readLastSeal } from '../../audit/seals/seal-log.ts';
import { readProjectorLagS } from '../../core/projection/projector.ts';
import type { Tx } from '../../db/pool.ts';
import { readOldestDueS } from '../../delivery/queue/oldest-due.ts';
import { type JobName, JOBS } from '../../settings/job-schedules.ts';
import { type JobStanding, readJobs } from '../../admin/jobs.ts';
import { ENDS_SOON_DAYS } from '../../webhooks/alert-collect.ts';
import { ownEnds } from '../../webhooks/certificates.ts';
import { MAINTENANCE } from '../maintenance/list.ts';
import { type Role, ROLES } from './checks.ts';
import { readProcesses, type Seen } from './heartbeat.ts';
import { readSealLagS } from './measure-installation.ts';
import { fault, faultUnless, type Finding, ok, warning, warningUnless } from '../../db/fitness/finding.ts';

/** From when on each is late, in seconds, as in alerts.yml. */
export const LATE_S = {
  /** A row is sealed within a minute, unless a transaction that is open beside it holds the seal back. */
  seal: 300,
  verify: 172_800,
  anchor: 10_800,
  projector: 120,
  delivery: 60,
  /** Each api looks every 15 s; a job that runs is not overdue. */
  job: 3_600,
} as const;
const DEAD_ROWS = 1_000_000;

export async function checkSealer(sql: Tx): Promise<readonly Finding[]> {
  const last = await readLastSeal(sql);
  const lagS = await readSealLagS(sql);
  const about = 'sealer';
  if (lagS <= LATE_S.seal)
    return [ok(about, last === null ? 'nothing is old enough to be sealed' : `seal ${last.number} is up to date`)];
  const advice = 'start api or poll, which seal, or run audit seal; an open transaction holds it back, too';
  return [fault(about, `a row has been unsealed for ${Math.round(lagS)} s`, advice)];
}

export async function checkVerdict(sql: Tx): Promise<readonly Finding[]> {
  const about = 'verify';
  const last = await readStanding(sql);
  if (last === null)
    return [warning(about, 'no verdict was kept yet', 'run audit verify, or let api do so (JOB_VERIFY)')];
  const { holds, findings, head, checkedAt, ageS } = last;
  const found = `${findings} findings in ${head?.size ?? 0} seals, at ${checkedAt.toISOString()}`;
  if (!holds) return [fault(about, found, 'run audit verify: it names each; see CarteiroSealsBroken in the runbook')];
  return [warningUnless(ageS <= LATE_S.verify, about, found, 'run audit verify')];
}

export async function checkWorkerKey(config: Config): Promise<readonly Finding[]> {
  const about = 'workers';
  if ((await readWorkerKey(config)) !== null) return [ok(about, 'the key is there by which they are found')];
  const advice = 'make one with openssl rand -base64 32, and name its file in WORKER_KEY_FILE of every api';
  return [warning(about, 'no key is set, so none is found by a CPF and none is forgotten', advice)];
}

export async function checkCertificates(sql: Tx): Promise<readonly Finding[]> {
  const about = 'certificates';
  const ends = await ownEnds(sql);
  if (ends.length === 0) return [ok(about, 'no living process shows one of its own')];
  return ends.map(({ setting, validUntil }) => {
    const leftS = (validUntil.getTime() - Date.now()) / 1_000;
    const found = `${setting} ${leftS > 0 ? 'is good until' : 'ended on'} ${validUntil.toISOString()}`;
    const advice = 'renew it in its file; it is read again, and nothing is restarted';
    return leftS > 0
      ? warningUnless(leftS > ENDS_SOON_DAYS * 86_400, about, found, advice)
      : fault(about, found, advice);
  });
}

export async function checkAnchors(sql: Tx, config: Config): Promise<readonly Finding[]> {
  const { signers } = await readCheckpointKeys(config);
  const key =
    signers.length === 0
      ? warning('checkpoints', 'no key signs them', 'run checkpoint key, and name its file in CHECKPOINT_KEY_FILE')
      : ok('checkpoints', `signed by ${signers.map(({ text }) => text).join(', ')}`);
  if (!config.hasAnchors) {
    const advice = 'set one of ANCHOR_*: else whoever owns the database and the key can make the log anew';
    return [key, warning('anchors', 'no place outside keeps checkpoints', advice)];
  }
  const places = await readAnchors(sql);
  const found = places.map(({ kind, place, size, error, lagS }) => {
    const is = `${place} has ${size} seals${lagS === 0 ? '' : `, the next for ${Math.round(lagS)} s not`}`;
    if (error !== null) return fault(`anchor ${kind}`, `${is}: ${error}`, 'mend that, then run audit anchor');
    return faultUnless(lagS <= LATE_S.anchor, `anchor ${kind}`, is, 'run audit anchor');
  });
  return [key, ...(found.length > 0 ? found : [warning('anchors', 'none has run yet', 'run audit anchor')])];
}

const WITHOUT: Readonly<Record<Role, string>> = {
  api: 'start api: requests, registrations, the projection and the jobs wait for one',
  poller: 'start poll: nothing is delivered without one',
};

/** Which processes live, by their signs of life. An installation that has no event yet has had no start. */
export async function checkProcesses(sql: Tx): Promise<readonly Finding[]> {
  const seen = await readProcesses(sql);
  const [{ hasBegun }] = await sql<[{ hasBegun: boolean }]>`select exists (select from events) as "hasBegun"`;
  const namesOf = (all: readonly Seen[]) =>
    all.map(({ name, ageS }) => `${name} (${Math.round(ageS)} s ago)`).join(', ');
  return ROLES.flatMap((role) => {
    const ofRole = seen.filter((one) => one.role === role);
    const lost = ofRole.filter(({ isAlive }) => !isAlive);
    const alive = ofRole.filter(({ isAlive }) => isAlive);
    const gone = `went silent without stopping: ${namesOf(lost)}`;
    if (alive.length === 0) {
      const none = lost.length > 0 ? `none lives; ${gone}` : 'none has given a sign of life in the last 30 s';
      return [(hasBegun ? fault : warning)(role, none, WITHOUT[role])];
    }
    const found = ok(role, `${alive.length} ${alive.length === 1 ? 'lives' : 'live'}: ${namesOf(alive)}`);
    return lost.length === 0
      ? [found]
      : [found, warning(role, gone, 'see its log on its host; the row goes after a day')];
  });
}

export async function checkLags(sql: Tx): Promise<readonly Finding[]> {
  const [lagS, dueS] = [await readProjectorLagS(sql), await readOldestDueS(sql)];
  const advice =
    'start api; if one runs, a transaction that stays open holds it back (see transactions), or its log names an event that cannot be applied';
  const late = `the oldest has been due for ${Math.round(dueS)} s`;
  return [
    faultUnless(lagS <= LATE_S.projector, 'projector', `${Math.round(lagS)} s behind the log`, advice),
    faultUnless(dueS <= LATE_S.delivery, 'deliveries', late, 'see queue status; start poll, or more of it'),
  ];
}

/** What Carteiro does by itself: the loops of its processes, and each job with its last run. */
export async function checkJobs(sql: Tx): Promise<readonly Finding[]> {
  const jobs = await readJobs(sql);
  const loops = MAINTENANCE.map(
    ({ name, everyMs, roles }) => `${name} (${roles.join(' and ')}, each ${everyMs / 1_000} s)`,
  ).join(', ');
  if (jobs.length === 0) {
    return [warning('upkeep', `${loops}; the jobs are not known yet`, 'start api: it runs them by their schedules')];
  }
  return [ok('upkeep', loops), ...jobs.map(findingOf)];
}

function findingOf(job: JobStanding): Finding {
  const { name, schedule, nextAt, endedAt, exitCode, durationS, overdueS, isRunning } = job;
  const about = `job ${name}`;
  if (schedule === null) return ok(about, 'off by its setting');
  const when = `"${schedule}" of São Paulo, next ${nextAt?.toISOString() ?? 'never'}`;
  const last =
    endedAt === null
      ? 'has not run yet'
      : `last ended ${endedAt.toISOString()} with ${exitCode} after ${Math.round(durationS ?? 0)} s`;
  const found = `${when}; ${isRunning ? 'runs now' : last}`;
  if (overdueS > LATE_S.job) return fault(about, found, 'it is overdue: see that an api runs, and its log');
  const words = JOBS[name as JobName].words(new Date()).join(' ');
  return faultUnless((exitCode ?? 0) <= 0, about, found, `run it by hand to see why: npm run -s cli -- ${words}`);
}

interface Growth {
  readonly bytes: number;
  /** Of what a day adds; the last one's attempts with their share of each table that grows. */
  readonly aDay: number;
  readonly largest: string;
}

const MIB = 1_048_576;

/** The free space cannot be asked of PostgreSQL; how fast it goes can. */
export async function checkDisk(sql: Tx): Promise<readonly Finding[]> {
  const [{ bytes, aDay, largest }] = await sql<[Growth]>`
    with growing as (
      select c.relname, pg_total_relation_size(c.oid)::float8 as bytes, greatest(c.reltuples, 0)::float8 as rows
      from pg_class c
      where c.relnamespace = current_schema()::regnamespace and c.relname in ('events', 'deliveries', 'attempts')
    ),
    day as (select count(*)::float8 as attempts from attempts where recorded_at > now() - interval '1 day')
    select pg_database_size(current_database())::float8 as bytes,
           coalesce((select sum(g.bytes) * (select attempts from day) / nullif(max(g.rows) filter (where relname = 'attempts'), 0)
                     from growing g), 0)::float8 as "aDay",
           (select string_agg(relname || ' ' || round(g.bytes / ${MIB}) || ' MiB', ', ' order by g.bytes desc) from growing g)
             as largest`;
  const found = `${Math.round(bytes / MIB)} MiB (${largest}), growing by about ${Math.round(aDay / MIB)} MiB a day`;
  const dead = await sql<{ name: string; rows: number }[]>`
    select relname as name, n_dead_tup::float8 as rows from pg_stat_user_tables
    where schemaname = current_schema() and n_dead_tup > ${DEAD_ROWS} and n_dead_tup > n_live_tup`;
  const advice = 'see whether a transaction or a replication slot holds vacuum back';
  return [
    ok('disk', found),
    ...dead.map(({ name, rows }) => warning('vacuum', `${name} has ${rows} dead rows`, advice)),
  ];
}
