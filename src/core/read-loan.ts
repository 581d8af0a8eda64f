/** Reading a loan back, now or as it was (decisions, `GET /v1/emprestimos/{id}`). */
import type { RegistrationResource } from '../contract/loan-resource.ts';
import { id as idSchema } from '../contract/values.ts';
import type { Pool } from '../db/pool.ts';
import { fold } from '../loan/evolve.ts';
import type { LoanState } from '../loan/state.ts';
import { viewRegistration } from '../loan/view.ts';
import { readStream } from '../log/read.ts';

/**
 * The partner's loan as it is, or as it was right after its event number `version` (at least 1). Null for an unknown
 * id, another partner's loan, and a version that the loan has not reached.
 */
export async function readLoan(
  pool: Pool,
  partnerId: string,
  loanId: string,
  version?: number,
): Promise<LoanState | null> {
  if (!idSchema.safeParse(loanId).success) return null;
  return pool.run(async (sql) => {
    const [row] = await sql<{ state: LoanState }[]>`
      select state from loans where id = ${loanId} and partner_id = ${partnerId}`;
    if (row === undefined || version === undefined) return row?.state ?? null;
    return version > row.state.version ? null : fold(await readStream(sql, loanId, version));
  });
}

/** The latest registration of the partner's loan; null when there is no such loan or none was asked. */
export async function readRegistration(
  pool: Pool,
  partnerId: string,
  loanId: string,
): Promise<RegistrationResource | null> {
  const state = await readLoan(pool, partnerId, loanId);
  return state === null ? null : viewRegistration(state);
}
