/**
 * Lines of CSV (RFC 4180) that no spreadsheet takes for a formula: a cell that begins with a sign which starts one gets
 * an apostrophe in front. A partner's receiver decides what its answer says, and an auditor opens it.
 */

const FORMULA = /^[\s\0]*[=+\-@|%＝＋－＠]|^[\t\r\n]/u;

export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(value: string | number | boolean | null): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const harmless = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
