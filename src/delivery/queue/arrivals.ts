/**
 * Arrivals: wake rows, inserted by whoever gives a webhook work. A poller claims the deliveries that they name, or makes their
 * lanes due.
 *
 * Invariant: an arrival is deleted by the very transaction that claims what it names, arms its lane or puts it back, and none is
 * passed over, however late its transaction commits. The session remembers the snapshot up to which it has read. New arrivals can come
 * only from transactions that were open in it or began later, so only those are read.
 * Crash: the memory (the setting `carteiro.taken`) ends with its session. A server may lose a turn in a crash or a failover,
 * and with it all sessions that remember it; a memory in the poller would outlive them.
 * Why not from the first row on: a taken arrival leaves a dead index entry, and nothing removes that while a snapshot is held
 * open: after 60 s each turn stepped over half a million of them (42 ms). Why not a low-water mark on an identity: a
 * transaction that commits late brings low numbers.
 */
import type { Tx } from '../../db/pool.ts';
import type { Answers } from './answers.ts';
import { arrayText } from './array-text.ts';
import type { Report } from './report.ts';

/** How an idle poller waits for work, in milliseconds: how long at most, and how often it looks. */
export interface Patience {
  readonly ms: number;
  readonly napMs: number;
  /** How old work must be; absent: it takes work of any age. */
  readonly lagMs?: number;
  /** How long it rests after it has waited behind others in vain. */
  readonly restMs?: number;
}

type Subject = Pick<Report, 'webhookId' | 'partnerId'>;

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
 * Says that slots of these webhooks came free: a saturated lane wakes; another lane is left as it is, unless the answers move
 * its window. No webhook may come twice.
 */
export async function freeSlots(tx: Tx, freed: readonly (Subject & Partial<Answers>)[]): Promise<void> {
  await tx`
    insert into arrivals (webhook_id, partner_id, kind, good, bad, good_ms)
    select id, partner_id, kind::arrival_kind, good, bad, good_ms
    from unnest(
        ${arrayText(freed, ({ webhookId }) => webhookId)}::text::uuid[],
        ${arrayText(freed, ({ partnerId }) => partnerId)}::text::uuid[],
        ${arrayText(freed, ({ isSilent = false }) => (isSilent ? 'slot_free_silent' : 'slot_free'))}::text::text[],
        ${arrayText(freed, ({ good = 0 }) => good)}::text::int[],
        ${arrayText(freed, ({ bad = 0 }) => bad)}::text::int[],
        ${arrayText(freed, ({ goodMs = 0 }) => goodMs)}::text::real[]
      ) as freed (id, partner_id, kind, good, bad, good_ms)`;
}
