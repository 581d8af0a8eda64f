/** Calendar days of America/Sao_Paulo; every date of the interface is one of them. */

const DAY = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/Sao_Paulo',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

const DAY_MS = 86_400_000;

/** The days that a period may name. */
export const FIRST_DAY = '1970-01-01';
export const LAST_DAY = '2999-12-31';

/** The day in São Paulo at `instant`, `YYYY-MM-DD`. */
export function dayOf(instant: Date): string {
  const parts = new Map(DAY.formatToParts(instant).map(({ type, value }) => [type, value]));
  return `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`;
}

/** The day `days` after `day`; both `YYYY-MM-DD`. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** The day `months` before `day`; the last of its month where that has no such day. */
export function monthsBefore(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const last = new Date(Date.UTC(year, month - months, 0)).getUTCDate();
  return new Date(Date.UTC(year, month - 1 - months, Math.min(date, last))).toISOString().slice(0, 10);
}

/** The day `months` after `day`; the last of its month where that has no such day. */
export function addMonths(day: string, months: number): string {
  return monthsBefore(day, -months);
}

/** The number of days from `from` to `to`; NaN when one of them is not a day. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS;
}

const HOUR_MS = 3_600_000;

/** The first instant of `day`, `YYYY-MM-DD` from 1970 on. São Paulo is west of Greenwich, so its days begin later. */
export function startOfDay(day: string): Date {
  let at = Date.parse(`${day}T00:00:00Z`);
  while (dayOf(new Date(at)) < day) at += HOUR_MS;
  return new Date(at);
}

/** The last day of the month of `day`, or `to` where that comes first. */
export function lastOfMonth(day: string, to: string): string {
  let last = day;
  while (last < to && !addDays(last, 1).endsWith('-01')) last = addDays(last, 1);
  return last;
}
