/** The end of the bank's transfer. A failed one leaves the loan ready for another. */
import type { Pool } from '../db/pool.ts';
import { dayOf } from '../loan/calendar.ts';
import type { Provenance } from '../log/append.ts';
import { type Handled, handleLoan } from './handle-loan.ts';

/**
 * The transfer settled `on` a day, `YYYY-MM-DD`, from the day the loan was made to today in São Paulo; today when none
 * is given.
 */
export async function settleDisbursement(
  pool: Pool,
  provenance: Provenance,
  loanId: string,
  on?: string,
): Promise<Handled> {
  return handleLoan(pool, provenance, loanId, (now) => {
    const today = dayOf(now);
    return { type: 'settleDisbursement', on: on ?? today, today };
  });
}

/** The transfer failed; `reason` reaches the partner as `motivo`. */
export async function failDisbursement(
  pool: Pool,
  provenance: Provenance,
  loanId: string,
  reason: string,
): Promise<Handled> {
  return handleLoan(pool, provenance, loanId, () => ({ type: 'failDisbursement', reason }));
}
