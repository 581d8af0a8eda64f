/** Internal signing; the external modes are signed by documents. */
import type { Pool } from '../db/pool.ts';
import type { Provenance } from '../log/append.ts';
import { type Handled, handleLoan } from './handle-loan.ts';

/** The internal signing provider finalised the document. */
export async function concludeSigning(pool: Pool, provenance: Provenance, loanId: string): Promise<Handled> {
  return handleLoan(pool, provenance, loanId, () => ({ type: 'concludeSigning' }));
}
