/** The end of an asynchronous issuance (contract, "Rules" 6): exactly one of the two. */
import type { Pool } from '../db/pool.ts';
import type { Provenance } from '../log/append.ts';
import { type Handled, handleLoan } from './handle-loan.ts';
import { definitiveNumber } from './loan-number.ts';

/** The loan is issued under its definitive number, in `em_assinatura`. */
export async function concludeIssuance(pool: Pool, provenance: Provenance, loanId: string): Promise<Handled> {
  return handleLoan(pool, provenance, loanId, async (now, { tx }) => ({
    type: 'concludeIssuance',
    number: await definitiveNumber(tx, now),
  }));
}

/** The issuance is given up and the loan cancelled; `reason` reaches the partner as `motivo`. */
export async function failIssuance(
  pool: Pool,
  provenance: Provenance,
  loanId: string,
  reason: string,
): Promise<Handled> {
  return handleLoan(pool, provenance, loanId, () => ({ type: 'failIssuance', reason }));
}
