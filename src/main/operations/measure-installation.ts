/** What else the database knows: pollers, seals, the last verdicts, sizes, epoch and migrations. */
import { readAnchors } from '../../audit/anchor/run-anchors.ts';
import { readBalanceStanding } from '../../audit/balance-verdicts.ts';
import { readStanding } from '../../audit/seals/verdicts.ts';
import { pendingMigrations } from '../../db/migrations/pending-migrations.ts';
import { readClockSkewS } from '../../db/clock-skew.ts';
import type { Tx } from '../../db/pool.ts';
import type { Readings } from '../../telemetry/readings.ts';
import { LOST_AFTER_S } from './heartbeat.ts';

/** Pollers shown one by one. */
const POLLERS = 100;

/** The pollers of the last hour. A poller that stops deletes its row; a killed poller's row stays. */
export async function measurePollers(sql: Tx): Promise<Readings> {
  const rows = await sql<{ name: string; version: string; ageS: number }[]>`
    select name, version, greatest(extract(epoch from now() - seen_at), 0)::float8 as "ageS"
    from pollers
    where seen_at > now() - interval '1 hour'
    order by seen_at desc
    limit 1000`;
  const alive = rows.filter(({ ageS }) => ageS <= LOST_AFTER_S).length;
  return {
    pollers: [
      { labels: { state: 'alive' }, value: alive },
      { labels: { state: 'lost' }, value: rows.length - alive },
    ],
    heartbeats: rows
      .slice(0, POLLERS)
      .map(({ name: poller, version, ageS }) => ({ labels: { poller, version }, value: ageS })),
  };
}

/**
 * The age of the oldest row that was written after the last seal. Of an event its id tells the time, which saves an index;
 * rows that were open when the seal was made are older, and are sealed with the next.
 */
export async function measureSeals(sql: Tx): Promise<Readings> {
  const [{ lagS }] = await sql<[{ lagS: number }]>`
    with last as materialized (
      select coalesce((select sealed_at from seals order by number desc limit 1), 'epoch') as sealed_at
    ),
    first_id as materialized (
      select (lpad(to_hex((extract(epoch from sealed_at) * 1000)::bigint + 1), 12, '0') || repeat('0', 20))::uuid as id
      from last
    )
    select coalesce(extract(epoch from now() - least(
             (select recorded_at from attempts where recorded_at > (select sealed_at from last) order by recorded_at limit 1),
             (select uuid_extract_timestamp(id) from events where id >= (select id from first_id) order by id limit 1)
           )), 0)::float8 as "lagS"`;
  return { sealLag: [{ value: Math.max(lagS, 0) }] };
}

export async function measureAnchors(sql: Tx): Promise<Readings> {
  const anchors = await readAnchors(sql);
  return { anchorLag: anchors.map(({ kind, lagS }) => ({ labels: { kind }, value: lagS })) };
}

/** What `audit balance` has said. */
export async function measureBalance(sql: Tx): Promise<Readings> {
  const standing = await readBalanceStanding(sql);
  if (standing === null) return { balanceAge: [{ value: await readAgeS(sql) }] };
  return {
    balanceCloses: [{ value: standing.closes ? 1 : 0 }],
    balanceDifferences: [{ value: standing.differences }],
    balanceAge: [{ value: standing.ageS }],
  };
}

/** What `audit verify` said when it last ran. */
export async function measureVerify(sql: Tx): Promise<Readings> {
  const standing = await readStanding(sql);
  if (standing === null) return { verifyAge: [{ value: await readAgeS(sql) }] };
  return {
    verifyHolds: [{ value: standing.holds ? 1 : 0 }],
    verifyFindings: [{ value: standing.findings }],
    verifyAge: [{ value: standing.ageS }],
  };
}

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
      and (relkind = 'r' or relname in ('deliveries_due', 'deliveries_stopped'))
    order by relname`;
  return {
    tableBytes: rows.flatMap(({ name, bytes }) => (bytes === null ? [] : [{ labels: { table: name }, value: bytes }])),
    tableRows: rows.map(({ name, rows: value }) => ({ labels: { table: name }, value })),
  };
}

export async function measureInstallation(sql: Tx, schema: string): Promise<Readings> {
  const [{ epoch }] = await sql<[{ epoch: number }]>`select current_epoch() as epoch`;
  return {
    epoch: [{ value: epoch }],
    clockSkew: [{ value: await readClockSkewS(sql, Date.now) }],
    pendingMigrations: [{ value: await pendingMigrations(sql, schema) }],
  };
}
