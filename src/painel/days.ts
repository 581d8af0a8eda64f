/** Days of America/Sao_Paulo, for what a form fills in. */
const DAY = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Sao_Paulo', dateStyle: 'short' });

export function today(): string {
  return DAY.format(Date.now());
}

/** The month before this one, the last that can be closed. */
export function lastMonth(): string {
  const [year = 0, month = 0] = today().split('-').map(Number);
  return month === 1 ? `${year - 1}-12` : `${year}-${String(month - 1).padStart(2, '0')}`;
}
