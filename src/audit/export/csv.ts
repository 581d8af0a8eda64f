/**
 * CSV (RFC 4180): rows alone, because a last line of another kind makes every column text for whoever reads a table.
 *
 * No spreadsheet takes a cell for a formula: a cell that begins with a sign which starts one gets an apostrophe in front. A
 * partner's receiver decides what its answer says, and an auditor opens it. A semicolon is quoted, too, because spreadsheets of
 * half the world divide cells by it. The values of a list stand in one cell, with a space between them.
 */
import type { Row } from '../lists/list.ts';
import { type Format, linesOf } from './format.ts';

/** The byte-order mark, with which a spreadsheet takes the file for UTF-8. */
export const MARK = '\u{FEFF}';

const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@|%＝＋－＠]|^[\p{Cc}\p{Cf}]/u;

function csvLine(cells: readonly Row[string][]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(value: Row[string]): string {
  if (value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : value.join(' ');
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",;\t\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

export const csv: Format<'text/csv'> = {
  mediaType: 'text/csv',
  contentType: 'text/csv; charset=utf-8; header=present',
  begin: (columns) => linesOf(csvLine(columns), (item) => csvLine(columns.map((column) => item[column] ?? null))),
  footer: null,
};
