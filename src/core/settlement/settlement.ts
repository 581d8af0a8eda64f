/**
 * The monthly batch (repasse): closed once for each partner and month, after the month is over in America/Sao_Paulo.
 *
 * Invariant: the batch, its installments and repasse.processado commit together, and no installment is counted twice. Closings of
 * one partner queue on its row, which rehires lock too while they read settled installments (bond-detection.ts). Installment k
 * falls in the month of `data_liberacao` + k; one of a month that closed before the disbursement is counted by the next batch.
 * Events of another core are folded first, for this partner alone; those committed later belong to the next batch.
 */
import type { Result } from '../../contract/refusals.ts';
import type { SettlementTotals } from '../../contract/resources/nucleus-resource.ts';
import type { Tx } from '../../db/pool.ts';
import { lockPartner } from '../../db/partner-lock.ts';
import { dayOf } from '../../contract/calendar.ts';
import { append, type Provenance, UnknownPartner, VersionConflict } from '../../log/append.ts';
import { readCommitted, readProgress } from '../../log/follow.ts';
import { readClock } from '../../log/read.ts';
import type { Transactor } from '../loans/handle-loan.ts';
import { applyEvents } from '../projection/apply-events.ts';
import { readSettlement, type Settlement, settleMonth } from './installments.ts';

/** `alreadyClosed`: nothing changed, `settlement` is what exists. */
export interface Closing {
  readonly settlement: Settlement;
  readonly alreadyClosed: boolean;
}

/** True when `month`, `YYYY-MM`, is over in São Paulo at `now`. */
export function isOver(month: string, now: Date): boolean {
  return month < dayOf(now).slice(0, 7);
}

/** Closes the batch of `month` (`YYYY-MM`), with the core's totals or counted here. Throws for an unknown partner. `now`: tests. */
export async function closeSettlement(
  within: Transactor,
  provenance: Provenance,
  month: string,
  now?: Date,
  totals: SettlementTotals | null = null,
): Promise<Result<Closing, 'monthNotOver'>> {
  const { partnerId } = provenance;
  const close = async (tx: Tx): Promise<Result<Closing, 'monthNotOver'>> => {
    const known = await lockPartner(tx, partnerId);
    if (known.length === 0) throw new UnknownPartner(`there is no partner ${partnerId}`);
    const closedAt = now ?? (await readClock(tx));
    if (!isOver(month, closedAt)) return { refused: { kind: 'monthNotOver', month } };
    await applyEvents(tx, await readCommitted(tx, await readProgress(tx, 'loans'), partnerId));
    const existing = await readSettlement(tx, partnerId, month);
    if (existing !== null) return { ok: { settlement: existing, alreadyClosed: true } };
    const settlement = await settleMonth(tx, partnerId, month, closedAt, totals);
    await append(tx, {
      ...provenance,
      stream: settlement.repasse_id,
      expectedVersion: 0,
      facts: [{ type: 'repasse.processado', data: settlement }],
      occurredAt: closedAt,
    });
    return { ok: { settlement, alreadyClosed: false } };
  };
  return within.transaction(close).catch((error: unknown) => {
    // A core in another language has closed it meanwhile, and now its batch can be read.
    if (!(error instanceof VersionConflict)) throw error;
    return within.transaction(close);
  });
}
