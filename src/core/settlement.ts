/**
 * The monthly batch (repasse): closed once for each partner and month, after the month is over in America/Sao_Paulo.
 *
 * Invariant: the batch, the installments it counted and repasse.processado commit together, and no installment is
 * counted twice. Closings of one partner queue on its row, so of two machines the later finds the batch of the earlier;
 * a crash leaves nothing. Rehires hold the same row while they read what is settled (bond-detection.ts).
 * Installment k falls in the month of `data_liberacao` + k, so a loan has one installment in a month at most. One of a
 * month that was closed before its loan was disbursed is counted by the next batch of a later month.
 * What a core in another language has appended and the projector has not seen yet is folded first, of this partner alone;
 * what is committed later belongs to the next batch.
 */
import type { Pool } from '../db/pool.ts';
import { dayOf } from '../loan/calendar.ts';
import { append, type Provenance } from '../log/append.ts';
import { readCommitted, readProgress } from '../log/follow.ts';
import { readClock } from '../log/read.ts';
import { applyEvents } from './apply-events.ts';
import { readSettlement, type Settlement, settleMonth } from './installments.ts';

/** `notOver`: the month is not over; `alreadyClosed`: nothing changed, `settlement` is what exists. */
export type Closing = { readonly settlement: Settlement; readonly alreadyClosed: boolean } | { readonly notOver: true };

/** True when `month`, `YYYY-MM`, is over in São Paulo at `now`. */
export function isOver(month: string, now: Date): boolean {
  return month < dayOf(now).slice(0, 7);
}

/** Closes the batch of `month`, `YYYY-MM`. Throws for a partner that does not exist. Tests pass their own `now`. */
export async function closeSettlement(pool: Pool, provenance: Provenance, month: string, now?: Date): Promise<Closing> {
  const { partnerId } = provenance;
  return pool.transaction(async (tx) => {
    const known = await tx`select 1 from partners where id = ${partnerId} for no key update`;
    if (known.length === 0) throw new Error(`there is no partner ${partnerId}`);
    const closedAt = now ?? (await readClock(tx));
    if (!isOver(month, closedAt)) return { notOver: true };
    await applyEvents(tx, await readCommitted(tx, await readProgress(tx, 'loans'), partnerId));
    const existing = await readSettlement(tx, partnerId, month);
    if (existing !== null) return { settlement: existing, alreadyClosed: true };
    const settlement = await settleMonth(tx, partnerId, month, closedAt);
    await append(tx, {
      ...provenance,
      stream: settlement.repasse_id,
      expectedVersion: 0,
      facts: [{ type: 'repasse.processado', data: settlement }],
      occurredAt: closedAt,
    });
    return { settlement, alreadyClosed: false };
  });
}
