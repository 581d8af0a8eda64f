/** Loan numbers, each year's counted by itself; gaps mean nothing. */
import type { Tx } from '../../db/pool.ts';
import { dayOf } from '../../contract/calendar.ts';

/** `AAAA-` and eight digits or more; the year is that of São Paulo at `now`. */
export async function definitiveNumber(tx: Tx, now: Date): Promise<string> {
  return nextOf(tx, dayOf(now).slice(0, 4));
}

/** `P-` and eight digits or more, for a loan in `emitindo`. */
export async function provisionalNumber(tx: Tx): Promise<string> {
  return nextOf(tx, 'P');
}

/** Whether a loan of the partner bears the number. */
export async function isNumberTaken(tx: Tx, partnerId: string, number: string): Promise<boolean> {
  const bearers = await tx`select from numbered_loans where partner_id = ${partnerId} and number = ${number}`;
  return bearers.length > 0;
}

async function nextOf(tx: Tx, series: string): Promise<string> {
  const [{ number }] = await tx<[{ number: string }]>`select next_loan_number(${series})::text as number`;
  return `${series}-${number.padStart(8, '0')}`;
}
