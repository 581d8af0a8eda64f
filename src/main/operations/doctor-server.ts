/** The PostgreSQL server: its sessions, its clock, whether it takes writes, and what holds it up. */
import { readClockSkewS, SKEWED_S } from '../../db/clock-skew.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { LONG_OPEN_S, readLongOpen } from '../../db/held-rows.ts';
import { readSessions } from '../../db/sessions.ts';
import { readWriteFault } from '../../db/write-faults.ts';
import { fault, type Finding, ok, warning, warningUnless } from '../../db/fitness/finding.ts';
import { MOST } from '../service/pools.ts';

const SKEW_WARNING_S = 1;
const HOLDS = 'it holds back vacuum, seals and the feed';

export async function checkSessions(sql: Tx): Promise<readonly Finding[]> {
  const { sessions, most } = await readSessions(sql);
  return [roomFor(sessions, most)];
}

/** A release starts one more `api` and one more `poll` before the old ones have stopped. */
export function roomFor(sessions: number, most: number): Finding {
  const found = `${sessions} of ${most}; an api has ${MOST.api} at most, a poll ${MOST.poll}`;
  const advice = 'a release starts one more of each: raise max_connections, or put a pooler in front';
  return warningUnless(most - sessions >= MOST.api + MOST.poll, 'sessions', found, advice);
}

/** A disk without room shows only in a write, so one is tried and undone. */
export async function checkWrites(pool: Pool): Promise<readonly Finding[]> {
  const found = await readWriteFault(pool, true);
  if (found === null) return [ok('writes', 'the server takes writes')];
  const [what, advice] =
    found === 'full'
      ? ['the disk of the server is full', 'free room on it: nothing is appended or delivered until then']
      : ['the server takes reads only', 'lead DATABASE_URL to the primary, or end the read-only mode'];
  return [fault('writes', what, advice)];
}

export async function checkClock(sql: Tx, nowMs: () => number): Promise<readonly Finding[]> {
  const skewS = await readClockSkewS(sql, nowMs);
  const found = `${skewS.toFixed(1)} s apart from the database's`;
  const advice = 'let both machines keep their time (chrony, systemd-timesyncd): tokens and signatures carry it';
  if (skewS > SKEWED_S) return [fault('clock', found, advice)];
  return [warningUnless(skewS <= SKEW_WARNING_S, 'clock', found, advice)];
}

/** Open transactions hold back vacuum, seals and the feed; one that writes, or is prepared, does so from any of its databases. */
export async function checkTransactions(sql: Tx): Promise<readonly Finding[]> {
  const open = await readLongOpen(sql);
  const prepared = await sql<{ gid: string; owner: string; database: string }[]>`
    select gid, owner, database from pg_prepared_xacts
    where prepared < clock_timestamp() - ${LONG_OPEN_S} * interval '1 second' order by prepared limit 5`;
  const about = 'transactions';
  const held = [
    ...open.map(({ pid, name, seconds, database, transactions }) => {
      const keeps = transactions > 0 ? `, and keeps what has died since ${transactions} transactions` : '';
      const found = `process ${pid} (${name || 'unnamed'}) has been in one of the database ${database} for ${seconds} s${keeps}`;
      return warning(about, found, `${HOLDS}: end it, with select pg_terminate_backend(${pid}) if need be`);
    }),
    ...prepared.map(({ gid, owner, database }) => {
      const found = `${gid} of ${owner} is prepared in the database ${database} and not ended`;
      return warning(about, found, `${HOLDS}: commit prepared or rollback prepared it there`);
    }),
  ];
  const [{ login, isBlind }] = await sql<[{ login: string; isBlind: boolean }]>`
    select quote_ident(current_user) as login, not pg_has_role('pg_read_all_stats', 'usage') as "isBlind"`;
  if (isBlind) {
    const advice = `one of them may hold back vacuum, seals, the projector and the feed: grant pg_monitor to ${login}, then look again`;
    return [...held, warning(about, `${login} may not see those of other logins`, advice)];
  }
  return held.length > 0 ? held : [ok(about, `none is open for ${LONG_OPEN_S} s`)];
}

/** An unused replication slot keeps the WAL from its position on, and perhaps dead rows, until the disk is full. */
export async function checkSlots(sql: Tx): Promise<readonly Finding[]> {
  const slots = await sql<{ name: string; mib: number; holdsRows: boolean }[]>`
    select slot_name as name, (pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end,
                                               restart_lsn) / 1048576)::float8 as mib,
           coalesce(xmin, catalog_xmin) is not null as "holdsRows"
    from pg_replication_slots
    where not active and not temporary and restart_lsn is not null and wal_status <> 'lost'
    order by restart_lsn limit 5`;
  if (slots.length === 0) return [ok('slots', 'none is without a reader')];
  return slots.map(({ name, mib, holdsRows }) =>
    warning(
      'slots',
      `nobody reads the replication slot ${name}, which keeps ${Math.ceil(mib)} MiB of WAL${holdsRows ? ' and dead rows' : ''}`,
      `let its standby or subscriber come back, or drop it: select pg_drop_replication_slot('${name}')`,
    ),
  );
}
