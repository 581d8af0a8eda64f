/**
 * Arrivals: wake rows that whoever gives a webhook work inserts, and that a poller turns into due lanes.
 *
 * Invariant: an arrival is deleted by the very statement that arms its lane or puts it back, and none is passed over,
 * however late its transaction commits. The session remembers the snapshot up to which it has read. New arrivals can come
 * only from transactions that were open in it or began later, so only those are read.
 * Crash: the memory (the setting `carteiro.taken`) ends with its session, and what a server may lose in a crash or a
 * failover is an arming that only sessions of that server remember. Kept in the poller, it would outlive them.
 * Why not from the first row on: what was taken leaves dead index entries, and nothing removes them while a snapshot is
 * held open: after 60 s each turn stepped over half a million of them (42 ms). Why not a low-water mark on an identity:
 * a transaction that commits late brings low numbers.
 */
import type { Statement, Tx } from '../../db/pool.ts';
import { DUE_FROM_EVER } from './upkeep/due-mark.ts';
import type { Answers } from './answers.ts';
import type { Report } from './report.ts';

/** The most arrivals that one turn takes. */
export const ARRIVALS_A_TURN = 4_000;

/** How an idle poller waits for work, in milliseconds: how long at most, and how often it looks. */
export interface Patience {
  readonly ms: number;
  readonly napMs: number;
}

/**
 * Waits in the server until a lane is due (none is before `dueFrom`) whose partner is not `sated`, or there are arrivals that
 * make one due which its session does not know of.
 */
export function waitForWork(
  sql: Tx,
  { ms, napMs }: Patience,
  now: Date | null,
  dueFrom = DUE_FROM_EVER,
  sated: readonly string[] = [],
): Statement<object> {
  return sql<object[]>`
    select wait_for_work(${now}::timestamptz, ${ms}, ${napMs}, ${dueFrom}::text::timestamptz, ${sated as string[]}::uuid[])`;
}

type Subject = Pick<Report, 'webhookId' | 'partnerId'>;

export interface Armed {
  readonly taken: number;
  /** True when there may be more: the turn was full. */
  readonly more: boolean;
  /** Which start of which server this was. */
  readonly server: string;
  /** How long a claim is its poller's there. */
  readonly leaseMs: number;
}

/**
 * Turns at most 4,000 arrivals into due lanes; a statement of its own, outside of a transaction. No claim is waited
 * for:
 * what arrives for a lane that one holds, or that has changed since the turn began, is put back as new arrivals, for
 * the next turn. After a full batch we remember a snapshot cut off just before the last transaction taken, so the rest
 * of that transaction is read next time.
 * It commits asynchronously, which saves a third of a claim's time. If the server crashes, the whole arming is lost,
 * together with the session that remembers it; nothing later can depend on it. (After a restore from a dump, arrivals
 * may be of transactions that this server has not seen yet.)
 */
export function armLanes(sql: Tx, now: Date | null): Statement<Armed> {
  return sql<Armed[]>`
    select taken::int, taken = ${ARRIVALS_A_TURN} as more, pg_postmaster_start_time()::text as server,
           extract(epoch from lease())::float8 * 1000 as "leaseMs"
    from arm_lanes(${now}::timestamptz, ${ARRIVALS_A_TURN}) as taken`;
}

/**
 * Has the lanes of these webhooks look at everything again: for whoever makes deliveries due at a time that their lanes may
 * have passed, or ends claims beside a record.
 */
export async function insertArrivals(tx: Tx, webhookIds: readonly string[]): Promise<void> {
  if (webhookIds.length === 0) return;
  await tx`
    insert into arrivals (webhook_id, partner_id, kind)
    select id, partner_id, 'look' from webhooks where id = any (${webhookIds as string[]}::uuid[])`;
}

/**
 * Says that slots of these webhooks came free: a saturated lane wakes, another one is left as it is, unless what is told of
 * the answers moves its window. No webhook may come twice.
 */
export async function freeSlots(tx: Tx, freed: readonly (Subject & Partial<Answers>)[]): Promise<void> {
  await tx`
    insert into arrivals (webhook_id, partner_id, kind, good, bad, good_ms)
    select id, partner_id, kind::arrival_kind, good, bad, good_ms
    from unnest(
        ${freed.map(({ webhookId }) => webhookId)}::uuid[],
        ${freed.map(({ partnerId }) => partnerId)}::uuid[],
        ${freed.map(({ isSilent = false }) => (isSilent ? 'slot_free_silent' : 'slot_free'))}::text[],
        ${freed.map(({ good = 0 }) => good)}::int[],
        ${freed.map(({ bad = 0 }) => bad)}::int[],
        ${freed.map(({ goodMs = 0 }) => goodMs)}::real[]
      ) as freed (id, partner_id, kind, good, bad, good_ms)`;
}
