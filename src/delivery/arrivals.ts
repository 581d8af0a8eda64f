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
import type { Statement, Tx } from '../db/pool.ts';
import { DUE_FROM_EVER } from './due-mark.ts';

/** So many at most are taken in one turn. */
export const ARRIVALS_A_TURN = 4_000;

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
 * Turns at most 4,000 arrivals into due lanes; a statement of its own, outside of a transaction. No claim is waited for:
 * what arrives for a lane that one holds, or that has changed since the turn began, is put back as new arrivals, for the
 * next turn. What is remembered of a full turn lies in the middle of its snapshot: before the last transaction that it took
 * from.
 * Its commit is not waited for, which is another third of a claim's time: lost, it is lost whole, with its session, and
 * with nothing that came after it. (After a restore from a dump, arrivals may be of transactions that this server has not
 * seen yet.)
 */
export function armLanes(sql: Tx, now: Date | null): Statement<Armed> {
  return sql<Armed[]>`
    select taken::int, taken = ${ARRIVALS_A_TURN} as more
    from arm_lanes(${now}::timestamptz, ${ARRIVALS_A_TURN}) as taken`;
}

/**
 * Makes the core's kind of wake row, for whoever makes deliveries due at a time that their lanes may have passed, or ends
 * claims beside a record: the lanes look at everything again.
 */
export async function insertArrivals(tx: Tx, webhookIds: readonly string[]): Promise<void> {
  if (webhookIds.length === 0) return;
  await tx`
    insert into arrivals (webhook_id, due_at)
    select distinct unnest(${webhookIds as string[]}::uuid[]), '-infinity'::timestamptz`;
}

/**
 * Says that places of these webhooks came free: a saturated lane wakes, another one is left as it is. The `silent` ones of
 * them left an attempt without an answer, and have one place until they answer; the others may use all of theirs.
 */
export async function freePlaces(tx: Tx, webhookIds: readonly string[], silent: readonly string[] = []): Promise<void> {
  await tx`
    insert into arrivals (webhook_id, due_at, silent)
    select id, null, nullif(id = any (${silent as string[]}::uuid[]), false)
    from unnest(${[...new Set(webhookIds)]}::uuid[]) as freed (id)`;
}
