/** The end of the bank's transfer. A failed one leaves the loan ready for another. */
import { dayOf, monthsBefore } from '../../contract/calendar.ts';
import { type Asker, type Handled, handleLoan, type Transactor } from './handle-loan.ts';

/**
 * The transfer settled `on` a day, `YYYY-MM-DD`, from the day the loan was made to today in São Paulo; today when none
 * is given. The sandbox's transfers may lie `monthsBack` from today, whenever the loan was made: so a partner sees months close.
 */
export async function settleDisbursement(
  pool: Transactor,
  asker: Asker,
  loanId: string,
  on?: string,
  monthsBack: number | null = null,
): Promise<Handled> {
  return handleLoan(pool, asker, loanId, (now) => {
    const today = dayOf(now);
    const since = monthsBack === null ? {} : { since: monthsBefore(today, monthsBack) };
    return { type: 'settleDisbursement', on: on ?? today, today, ...since };
  });
}

/** The transfer failed; `reason` reaches the partner as `motivo`. */
export async function failDisbursement(
  pool: Transactor,
  asker: Asker,
  loanId: string,
  reason: string,
): Promise<Handled> {
  return handleLoan(pool, asker, loanId, () => ({ type: 'failDisbursement', reason }));
}
