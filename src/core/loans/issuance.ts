/** The end of an asynchronous issuance: exactly one of the two. */
import { type Asker, type Handled, handleLoan, type Transactor } from './handle-loan.ts';
import { definitiveNumber } from './loan-number.ts';

/** The loan is issued under its definitive number, in `em_assinatura`. */
export async function concludeIssuance(pool: Transactor, asker: Asker, loanId: string): Promise<Handled> {
  return handleLoan(pool, asker, loanId, async (now, { tx }) => ({
    type: 'concludeIssuance',
    number: await definitiveNumber(tx, now),
  }));
}

/** The issuance is given up and the loan cancelled; `reason` reaches the partner as `motivo`. */
export async function failIssuance(pool: Transactor, asker: Asker, loanId: string, reason: string): Promise<Handled> {
  return handleLoan(pool, asker, loanId, () => ({ type: 'failIssuance', reason }));
}
