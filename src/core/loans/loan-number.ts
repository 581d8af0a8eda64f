/** Loan numbers, each year's counted by itself; gaps mean nothing. */
import type { Tx } from '../../db/pool.ts';
import { dayOf } from '../../contract/calendar.ts';

/** `AAAA-` and eight digits or more; the year is that of São Paulo at `now`. */
export async function definitiveNumber(tx: Tx, partnerId: string, now: Date): Promise<string> {
  return nextOf(tx, partnerId, dayOf(now).slice(0, 4));
}

/** `P-` and eight digits or more, for a loan in `emitindo`. */
export async function provisionalNumber(tx: Tx, partnerId: string): Promise<string> {
  return nextOf(tx, partnerId, 'P');
}

/** Whether a loan of the partner bears or bore the number, other than the loan `own`. */
export async function isNumberTaken(
  tx: Tx,
  partnerId: string,
  number: string,
  own: string | null = null,
): Promise<boolean> {
  const bearers = await tx`
    select from numbered_loans
    where partner_id = ${partnerId} and number = ${number} and loan_id is distinct from ${own}::uuid`;
  return bearers.length > 0;
}

/** The next of the series that the lender's core has not given a loan of the partner itself; the series stays behind it. */
async function nextOf(tx: Tx, partnerId: string, series: string): Promise<string> {
  for (;;) {
    const [{ number, isTaken }] = await tx<[{ number: string; isTaken: boolean }]>`
      with next as materialized (select next_loan_number(${series})::text as n),
      written as materialized (select ${series}::text || '-' || lpad(n, greatest(8, length(n)), '0') as number from next)
      select number, exists (
        select from numbered_loans known where partner_id = ${partnerId} and known.number = written.number
      ) as "isTaken"
      from written`;
    if (!isTaken) return number;
  }
}
