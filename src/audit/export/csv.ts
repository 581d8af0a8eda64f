/**
 * CSV (RFC 4180): rows alone, because a last line of another kind makes every column text for whoever reads a table.
 *
 * No spreadsheet takes a cell for a formula: a cell that begins with a sign which starts one gets an apostrophe in front. A
 * partner's receiver decides what its answer says, and an auditor opens it. A semicolon is quoted, too, because spreadsheets of
 * half the world divide cells by it.
 */
import { COLUMNS, type Format, linesOf } from './format.ts';

const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@|%＝＋－＠]|^[\p{Cc}\p{Cf}]/u;

function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(value: string | number | boolean | null): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const harmless = FORMULA.test(value) ? `'${value}` : value;
  return /[",;\t\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

export const csv: Format<'text/csv'> = {
  mediaType: 'text/csv',
  contentType: 'text/csv; charset=utf-8; header=present',
  begin: linesOf(csvLine(COLUMNS), (item) => csvLine(COLUMNS.map((column) => item[column]))),
  footer: null,
};
