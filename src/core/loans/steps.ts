/** Steps of a loan that the lender's own systems make: signed, issued, transferred. */
import { dayOf, monthsBefore } from '../../contract/calendar.ts';
import { taken } from '../../contract/refusals.ts';
import { type Asker, type Handled, handleLoan, type Transactor } from './handle-loan.ts';
import { definitiveNumber, isNumberTaken } from './loan-number.ts';

/** The internal signing provider finalised the document; the external modes are signed by documents. */
export async function concludeSigning(pool: Transactor, asker: Asker, loanId: string): Promise<Handled> {
  return handleLoan(pool, asker, loanId, () => ({ type: 'concludeSigning' }));
}

/** The loan is issued under its definitive number, in `em_assinatura`: the lender's core's own, or the next of the year. */
export async function concludeIssuance(
  pool: Transactor,
  asker: Asker,
  loanId: string,
  number?: string,
): Promise<Handled> {
  return handleLoan(pool, asker, loanId, async (now, { tx, partnerId }) => {
    if (number !== undefined && (await isNumberTaken(tx, partnerId, number, loanId))) return taken('numero', number);
    return { type: 'concludeIssuance', number: number ?? (await definitiveNumber(tx, partnerId, now)) };
  });
}

/** The issuance is given up and the loan cancelled; `reason` reaches the partner as `motivo`. */
export async function failIssuance(pool: Transactor, asker: Asker, loanId: string, reason: string): Promise<Handled> {
  return handleLoan(pool, asker, loanId, () => ({ type: 'failIssuance', reason }));
}

/**
 * The transfer settled `on` (`YYYY-MM-DD`, today if absent), from the loan's day to today in São Paulo. The sandbox's may lie
 * `monthsBack` from today, before the loan: so a partner sees months close.
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

/** The transfer failed, and the loan is ready for another; `reason` reaches the partner as `motivo`. */
export async function failDisbursement(
  pool: Transactor,
  asker: Asker,
  loanId: string,
  reason: string,
): Promise<Handled> {
  return handleLoan(pool, asker, loanId, () => ({ type: 'failDisbursement', reason }));
}
