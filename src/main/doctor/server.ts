/** The PostgreSQL server: its version, the settings that commits rest on, its clock, and what holds it up. */
import { readClockSkewS } from '../../db/clock-skew.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { readWriteFault } from '../../db/write-faults.ts';
import { fault, type Finding, ok, warning } from './finding.ts';

const OLDEST_SERVER = 180_000;
/** Tokens are held against the clock with a tolerance of 5 s. */
const SKEW_FAULT_S = 5;
const SKEW_WARNING_S = 1;
const LONG_OPEN_S = 60;
const BUSY = 0.8;

interface Server {
  readonly number: number;
  readonly version: string;
  readonly fsync: string;
  readonly synchronousCommit: string;
  readonly fullPageWrites: string;
  readonly autovacuum: string;
  readonly encoding: string;
  readonly mayLoseData: boolean;
  readonly sessions: number;
  readonly maxSessions: number;
}

export async function lookAtServer(sql: Tx): Promise<readonly Finding[]> {
  const [server] = await sql<[Server]>`
    select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
           current_setting('fsync') as fsync, current_setting('synchronous_commit') as "synchronousCommit",
           current_setting('full_page_writes') as "fullPageWrites", current_setting('autovacuum') as autovacuum,
           current_setting('server_encoding') as encoding,
           current_setting('carteiro.allow_fsync_off', true) is not distinct from 'on' as "mayLoseData",
           case when pg_has_role('pg_read_all_stats', 'usage')
             then (select count(*)::int from pg_stat_activity where backend_type = 'client backend')
             else (select sum(numbackends)::int from pg_stat_database)
           end as sessions,
           current_setting('max_connections')::int as "maxSessions"`;
  return [
    server.number < OLDEST_SERVER
      ? fault('version', `PostgreSQL ${server.version}`, 'Carteiro needs PostgreSQL 18: upgrade the server')
      : ok('version', `PostgreSQL ${server.version}`),
    ...durability(server),
    server.autovacuum === 'on'
      ? ok('autovacuum', 'on')
      : fault('autovacuum', 'off', 'set autovacuum = on: without it claims slow down within minutes'),
    server.encoding === 'UTF8'
      ? ok('encoding', 'UTF8')
      : fault('encoding', server.encoding, 'make the database anew with encoding UTF8: envelopes and seals need it'),
    server.sessions > server.maxSessions * BUSY
      ? warning(
          'sessions',
          `${server.sessions} of ${server.maxSessions}`,
          'raise max_connections, or put a pooler in front',
        )
      : ok('sessions', `${server.sessions} of ${server.maxSessions}`),
  ];
}

function durability({ fsync, synchronousCommit, fullPageWrites, mayLoseData }: Server): readonly Finding[] {
  const losesCommits = synchronousCommit === 'off' || synchronousCommit === 'local';
  return [
    losesCommits
      ? fault('synchronous_commit', synchronousCommit, 'set it to on: commits that were acknowledged may be lost')
      : ok('synchronous_commit', synchronousCommit),
    fsync === 'on' || mayLoseData
      ? ok('fsync', fsync === 'on' ? 'on' : 'off, and the configuration says that data may be lost')
      : fault('fsync', fsync, 'set it to on: a crash of the machine destroys the database'),
    fullPageWrites === 'on' || mayLoseData
      ? ok('full_page_writes', fullPageWrites)
      : warning(
          'full_page_writes',
          fullPageWrites,
          'set it to on, unless the storage writes each 8 KiB page whole, as ZFS does',
        ),
  ];
}

/** A disk without room shows only in a write, so one is tried and undone. */
export async function lookAtWrites(pool: Pool): Promise<readonly Finding[]> {
  const found = await readWriteFault(pool, true);
  if (found === null) return [ok('writes', 'the server takes writes')];
  return found === 'full'
    ? [
        fault(
          'writes',
          'the disk of the server is full',
          'free room on it: nothing is appended or delivered until then',
        ),
      ]
    : [fault('writes', 'the server takes reads only', 'lead DATABASE_URL to the primary, or end the read-only mode')];
}

export async function lookAtClock(sql: Tx, nowMs: () => number): Promise<readonly Finding[]> {
  const skewS = await readClockSkewS(sql, nowMs);
  const found = `${skewS.toFixed(1)} s apart from the database's`;
  const advice = 'let both machines keep their time (chrony, systemd-timesyncd): tokens and signatures carry it';
  if (skewS > SKEW_FAULT_S) return [fault('clock', found, advice)];
  return [skewS > SKEW_WARNING_S ? warning('clock', found, advice) : ok('clock', found)];
}

/** Transactions that stay open hold back vacuum, seals and the feed. */
export async function lookAtTransactions(sql: Tx): Promise<readonly Finding[]> {
  const open = await sql<{ pid: number; name: string; seconds: number }[]>`
    select pid, application_name as name, extract(epoch from clock_timestamp() - xact_start)::int as seconds
    from pg_stat_activity
    where datname = current_database() and xact_start < clock_timestamp() - ${LONG_OPEN_S} * interval '1 second'
      and backend_type = 'client backend'
    order by xact_start limit 5`;
  const prepared = await sql<{ gid: string }[]>`
    select gid from pg_prepared_xacts where prepared < clock_timestamp() - ${LONG_OPEN_S} * interval '1 second'`;
  const held = [
    ...open.map(({ pid, name, seconds }) =>
      warning(
        'transactions',
        `process ${pid} (${name || 'unnamed'}) has been in one for ${seconds} s`,
        `it holds back vacuum, seals and the feed: end it, with select pg_terminate_backend(${pid}) if need be`,
      ),
    ),
    ...prepared.map(({ gid }) =>
      warning(
        'transactions',
        `${gid} is prepared and not ended`,
        'commit prepared or rollback prepared it: it holds back seals and the feed',
      ),
    ),
  ];
  const [{ login, isBlind }] = await sql<[{ login: string; isBlind: boolean }]>`
    select quote_ident(current_user) as login, not pg_has_role('pg_read_all_stats', 'usage') as "isBlind"`;
  if (isBlind) {
    const advice = `one of them may hold back vacuum, seals, the projector and the feed: grant pg_monitor to ${login}, then look again`;
    return [...held, warning('transactions', `${login} may not see those of other logins`, advice)];
  }
  return held.length > 0 ? held : [ok('transactions', `none is open for ${LONG_OPEN_S} s`)];
}
