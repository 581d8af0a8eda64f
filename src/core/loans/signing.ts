/** Internal signing; the external modes are signed by documents. */
import { type Asker, type Handled, handleLoan, type Transactor } from './handle-loan.ts';

/** The internal signing provider finalised the document. */
export async function concludeSigning(pool: Transactor, asker: Asker, loanId: string): Promise<Handled> {
  return handleLoan(pool, asker, loanId, () => ({ type: 'concludeSigning' }));
}
