/** Loan numbers, each year's counted by itself; gaps mean nothing. */
import type { Tx } from '../../db/pool.ts';
import { dayOf } from '../../contract/calendar.ts';

/** At least eight digits: a series goes on with nine. */
const DIGITS = 8;

async function nextDigits(tx: Tx, series: string): Promise<string> {
  const [row] = await tx<[{ number: string }]>`select next_loan_number(${series})::text as number`;
  return row.number.padStart(DIGITS, '0');
}

/** `AAAA-` and eight digits or more; the year is that of São Paulo at `now`. */
export async function definitiveNumber(tx: Tx, now: Date): Promise<string> {
  const year = dayOf(now).slice(0, 4);
  return `${year}-${await nextDigits(tx, year)}`;
}

/** `P-` and eight digits or more, for a loan in `emitindo`. */
export async function provisionalNumber(tx: Tx): Promise<string> {
  return `P-${await nextDigits(tx, 'P')}`;
}
