/** Loans on their way to the bank and beyond, for the tests of bonds and settlements. */
import { randomUUID } from 'node:crypto';
import { handleLoan } from '../../src/core/loans/handle-loan.ts';
import { recordRegistration, requestRegistration } from '../../src/core/loans/registration.ts';
import type { Pool } from '../../src/db/pool.ts';
import { startOfDay } from '../../src/contract/calendar.ts';
import type { LoanState } from '../../src/loan/state.ts';
import type { Provenance } from '../../src/log/append.ts';
import { accepted, issueLoan, issueLoanAt } from './loan-world.ts';
import { concludeSigning } from '../../src/core/loans/steps.ts';

/** A loan in `aguardando_averbacao` with a registration under way. */
export async function registeringLoan(pool: Pool, partner: Provenance, createdAt?: Date): Promise<LoanState> {
  const { id } = await (createdAt === undefined
    ? issueLoan(pool, partner, randomUUID())
    : issueLoanAt(pool, partner, createdAt));
  await accepted(concludeSigning(pool, partner, id));
  return accepted(requestRegistration(pool, partner, id));
}

export async function concludeRegistration(pool: Pool, partner: Provenance, loan: LoanState): Promise<LoanState> {
  return accepted(
    recordRegistration(pool, partner, {
      loanId: loan.id,
      registrationId: loan.registration?.id ?? '',
      answer: { outcome: 'concluded', protocol: `REG-${loan.id}` },
      documentsDeadlineDays: 15,
    }),
  );
}

/** A loan in `averbada`, whose transfer is under way. */
export async function registeredLoan(pool: Pool, partner: Provenance, createdAt?: Date): Promise<LoanState> {
  return concludeRegistration(pool, partner, await registeringLoan(pool, partner, createdAt));
}

/** A loan in `desembolsada`, made and disbursed on the day `on`, whatever the clock says. */
export async function disbursedLoan(pool: Pool, partner: Provenance, on: string): Promise<LoanState> {
  const { id } = await registeredLoan(pool, partner, startOfDay(on));
  return accepted(handleLoan(pool, partner, id, () => ({ type: 'settleDisbursement', on, today: on })));
}
