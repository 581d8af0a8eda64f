/**
 * Arrivals: wake rows that whoever gives a webhook work inserts, and that a poller turns into due lanes.
 *
 * Invariant: an arrival is deleted by the very statement that arms its lane or puts it back, and none is passed over,
 * however late its transaction commits. The database session remembers a snapshot of which all arrivals were taken: what
 * is new to a later one can only be of transactions that were running in it, or that came after it. So those are looked
 * up, and nothing else is read.
 * Crash: the memory (the setting `carteiro.taken`) ends with its session, and what a server may lose in a crash or a
 * failover is an arming that only sessions of that server remember. Kept in the poller, it would outlive them.
 * Why not from the first row on: what was taken leaves dead index entries, and nothing removes them while a snapshot is
 * held open: after 60 s each turn stepped over half a million of them (42 ms). Why not a low-water mark on an identity:
 * a transaction that commits late brings low numbers.
 */
import type { Fragment, Statement, Tx } from '../db/pool.ts';
import { DUE_FROM_EVER } from './due-mark.ts';

const ARRIVALS_A_TURN = 4_000;
/** "arms", as a number: held by the one poller that arms lanes, for that one statement. */
export const ARMING_LOCK = 0x61_72_6d_73;

/** How an idle poller waits for work, in milliseconds: how long at most, and how often it looks. */
export interface Patience {
  readonly ms: number;
  readonly napMs: number;
}

/**
 * Waits in the server until a lane is due (none is before `dueFrom`), or there are arrivals that make one due which its
 * session does not know of.
 */
export function waitForWork(
  sql: Tx,
  { ms, napMs }: Patience,
  now: Date | null,
  dueFrom = DUE_FROM_EVER,
): Statement<object> {
  return sql<object[]>`select wait_for_work(${now}::timestamptz, ${ms}, ${napMs}, ${dueFrom}::text::timestamptz)`;
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
    with turn as materialized (
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
    ${wokenLanes(sql, now)},
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
 * it from where to scan; one that is due already is left as it is. No claim is waited for: what arrives for a lane that one
 * holds, or that has changed since this statement began, is put back as new arrivals, for the next turn.
 */
function wokenLanes(sql: Tx, now: Date | null): Fragment {
  return sql`
    found as materialized (
      select arrived.*, newest.place, held.place is not null as is_held
      from arrived
      cross join lateral (
        select ctid as place from lanes where lanes.webhook_id = arrived.webhook_id order by version desc limit 1
      ) newest
      left join lateral (
        select l.ctid as place from lanes l where l.ctid = newest.place for update skip locked
      ) held on held.place = newest.place
    ),
    armed as (
      update lanes l
      set version = l.version + 1,
          next_due_at = case when l.saturated and not found.wakes then l.next_due_at else least(l.next_due_at, coalesce(${now}::timestamptz, now())) end,
          saturated = l.saturated and not found.wakes,
          scan_from = least(l.scan_from, found.due_at)
      from found
      where found.is_held and l.ctid = found.place
        and (found.due_at < l.scan_from
             or case when l.saturated then found.wakes
                     else found.due_at is not null and (l.next_due_at > coalesce(${now}::timestamptz, now())) is not false end)
    ),
    put_back as (
      insert into arrivals (webhook_id, due_at)
      select webhook_id, part.due_at
      from found
      cross join unnest(
        case when due_at is null or not has_free_place then array[due_at] else array[due_at, null] end
      ) as part (due_at)
      where not is_held
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
