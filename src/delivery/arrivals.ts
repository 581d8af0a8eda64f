/**
 * Arrivals: wake rows that whoever gives a webhook work inserts, and that a poller turns into due lanes.
 *
 * Invariant: an arrival is deleted by the very statement that arms its lane, and none is passed over, however late its
 * transaction commits. The database session remembers a snapshot of which all arrivals were taken: what is new to a later
 * one can only be of transactions that were running in it, or that came after it. So those are looked up, and nothing
 * else is read.
 * Crash: the memory (the setting `carteiro.taken`) ends with its session, and what a server may lose in a crash or a
 * failover is an arming that only sessions of that server remember. Kept in the poller, it would outlive them.
 * Why not from the first row on: what was taken leaves dead index entries, and nothing removes them while a snapshot is
 * held open: after 60 s each turn stepped over half a million of them (42 ms). Why not a low-water mark on an identity:
 * a transaction that commits late brings low numbers.
 */
import type { Fragment, Statement, Tx } from '../db/pool.ts';
import { newestLane } from './lanes.ts';

const ARRIVALS_A_TURN = 4_000;
/** "arms", as a number: held by the one poller that arms lanes, for that one statement. */
export const ARMING_LOCK = 0x61_72_6d_73;

/** How an idle poller waits for work, in milliseconds: how long at most, and how often it looks. */
export interface Patience {
  readonly ms: number;
  readonly napMs: number;
}

/** Waits in the server until a lane is due, or there are arrivals that make one due which its session does not know of. */
export function waitForWork(sql: Tx, { ms, napMs }: Patience, now: Date | null): Statement<object> {
  return sql<object[]>`select wait_for_work(${now}::timestamptz, ${ms}, ${napMs})`;
}

export interface Armed {
  readonly taken: number;
  /** True when there may be more: the turn was full. */
  readonly more: boolean;
}

/**
 * Turns at most 4,000 arrivals into due lanes; a statement of its own, outside of a transaction. What is remembered of a
 * full turn lies in the middle of its snapshot: before the last transaction that it took from. Its commit is not waited
 * for, which is another third of a claim's time: lost, it is lost whole, with its session, and with nothing that came
 * after it. (After a restore from a dump, arrivals may be of transactions that this server has not seen yet.)
 */
export function armLanes(sql: Tx, now: Date | null): Statement<Armed> {
  return sql<Armed[]>`
    with clock as materialized (
      select coalesce(${now}::timestamptz, now()) as now
    ),
    turn as materialized (
      select pg_try_advisory_xact_lock(${ARMING_LOCK}) as mine, pg_current_snapshot() as snapshot, arrivals_taken() as before,
             set_config('synchronous_commit', 'off', true)
    ),
    late as materialized (
      select a.ctid as place
      from turn, arrivals a
      where turn.mine and a.tx = any (array(select pg_snapshot_xip(before) from turn))
      limit ${ARRIVALS_A_TURN}
    ),
    next as materialized (
      select a.ctid as place, a.tx
      from turn, arrivals a
      where turn.mine and a.tx >= (select pg_snapshot_xmax(before) from turn)
      order by a.tx
      limit ${ARRIVALS_A_TURN} - (select count(*) from late)
    ),
    taken as (
      delete from arrivals a
      using (select place from late union all select place from next) arrived
      where a.ctid = arrived.place
      returning a.webhook_id, a.due_at
    ),
    arrived as materialized (
      select webhook_id, min(due_at) as due_at, bool_or(due_at is null) as has_free_place,
             bool_or(coalesce(due_at, '-infinity') = '-infinity') as wakes
      from taken
      group by webhook_id
    ),
    ${wokenLanes(sql)},
    seen as (
      select (select count(*) from late) as late, (select count(*) from next) as next,
             (select least((select max(tx) from next), pg_snapshot_xmax(snapshot)) from turn) as last_tx
    )
    select (late + next)::int as taken, late + next = ${ARRIVALS_A_TURN} as more,
           set_config('carteiro.taken', case
             when late = ${ARRIVALS_A_TURN} or not mine then before::text
             when late + next < ${ARRIVALS_A_TURN} then snapshot::text
             else format('%s:%s:%s', least(pg_snapshot_xmin(snapshot), last_tx), last_tx,
                         (select string_agg(xip::text, ',' order by xip) from pg_snapshot_xip(snapshot) xip where xip < last_tx))
           end, false)
    from turn, seen`;
}

/**
 * Wakes the lanes of what `arrived`. A saturated lane sleeps until a place comes free, and what arrives meanwhile only tells
 * it from where to scan; one that is due already is left as it is; one that is made here may begin as saturated: it is due
 * at once, and its first claim sees how it is. No claim is waited for: what arrives for a lane that one holds, or that has
 * changed since this statement began, is put back as new arrivals, for the next turn.
 */
function wokenLanes(sql: Tx): Fragment {
  return sql`
    found as materialized (
      select arrived.*, lane.place
      from arrived
      left join lateral (
        select l.ctid as place from lanes l where l.ctid = ${newestLane(sql, sql`arrived.webhook_id`)} for update skip locked
      ) lane on true
    ),
    held as materialized (
      select found.* from found join lanes l on l.ctid = found.place
    ),
    armed as (
      update lanes l
      set version = l.version + 1,
          next_due_at = case when l.saturated and not held.wakes then l.next_due_at else least(l.next_due_at, clock.now) end,
          saturated = l.saturated and not held.wakes,
          scan_from = least(l.scan_from, held.due_at)
      from clock, held
      where l.ctid = held.place
        and (held.due_at < l.scan_from
             or case when l.saturated then held.wakes
                     else held.due_at is not null and (l.next_due_at > clock.now) is not false end)
    ),
    made_keys as (
      insert into lane_keys (webhook_id)
      select webhook_id from found where place is null
      on conflict do nothing
      returning webhook_id
    ),
    made as (
      insert into lanes (webhook_id, next_due_at, scan_from, saturated)
      select webhook_id, clock.now, coalesce(due_at, 'infinity'), not wakes
      from clock, made_keys
      join found using (webhook_id)
    ),
    put_back as (
      insert into arrivals (webhook_id, due_at)
      select webhook_id, part.due_at
      from found
      cross join lateral (
        select due_at where due_at is not null
        union all
        select null where has_free_place
      ) part
      where webhook_id not in (select webhook_id from held union all select webhook_id from made_keys)
    )`;
}

/**
 * Makes the core's kind of wake row, for whoever makes deliveries due at a time that their lanes may have passed, or ends
 * claims beside a record: the lanes look at everything again.
 */
export async function insertArrivals(tx: Tx, webhookIds: readonly string[]): Promise<void> {
  if (webhookIds.length === 0) return;
  await tx`
    insert into arrivals (webhook_id, due_at) select distinct unnest(${webhookIds as string[]}::uuid[]), '-infinity'::timestamptz`;
}

/** Says that places of these webhooks came free: a saturated lane wakes, another one is left as it is. */
export async function freePlaces(tx: Tx, webhookIds: readonly string[]): Promise<void> {
  await tx`
    insert into arrivals (webhook_id, due_at) select unnest(${[...new Set(webhookIds)]}::uuid[]), null`;
}
