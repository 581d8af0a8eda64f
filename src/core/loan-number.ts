/** Loan numbers, from one sequence whose gaps mean nothing (decisions, "Endpoints"). */
import type { Tx } from '../db/pool.ts';
import { dayOf } from '../loan/calendar.ts';

async function nextDigits(tx: Tx): Promise<string> {
  const [row] = await tx<[{ digits: string }]>`select lpad(nextval('loan_numbers')::text, 8, '0') as digits`;
  return row.digits;
}

/** `AAAA-` and eight digits; the year is that of São Paulo at `now`. */
export async function definitiveNumber(tx: Tx, now: Date): Promise<string> {
  return `${dayOf(now).slice(0, 4)}-${await nextDigits(tx)}`;
}

/** `P-` and eight digits, for a loan in `emitindo`. */
export async function provisionalNumber(tx: Tx): Promise<string> {
  return `P-${await nextDigits(tx)}`;
}
