/**
 * The formats of the export. To add one: its entry in `FORMATS`, and its name in `EXPORT_FORMATS`; route and OpenAPI derive from
 * them.
 * NDJSON: an object a line, the manifest as the last one. CSV (RFC 4180): only rows, because a last line of another kind
 * makes table readers take each column for text. A cell that a spreadsheet would take for a formula gets an apostrophe in front:
 * receivers write answers, and auditors open them. A semicolon is quoted, because in many locales it divides cells. Values of a
 * list are divided by a space.
 */
import type { EXPORT_FORMATS } from '../../contract/resources/audit-lists.ts';
import type { ExportManifest } from '../../contract/resources/audit-resource.ts';
import type { Row } from '../lists/list.ts';

export interface Format<M extends string = string> {
  readonly mediaType: M;
  readonly contentType: M | `${M};${string}`;
  /** The beginning of a file of these columns. */
  readonly head: (columns: readonly string[]) => string;
  readonly line: (item: Row, columns: readonly string[]) => string;
  /** The manifest as a last line; null where a reader would take it for a row. */
  readonly footer: ((manifest: ExportManifest) => string) | null;
}

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
  head: csvLine,
  line: (item, columns) => csvLine(columns.map((column) => item[column] ?? null)),
  footer: null,
};

const ndjson: Format<'application/x-ndjson'> = {
  mediaType: 'application/x-ndjson',
  contentType: 'application/x-ndjson',
  head: () => '',
  line: (item) => `${JSON.stringify(item)}\n`,
  footer: (manifesto) => `${JSON.stringify({ manifesto })}\n`,
};

export const FORMATS = { ndjson, csv } as const satisfies Record<(typeof EXPORT_FORMATS)[number], unknown>;

export type FormatName = keyof typeof FORMATS;
export type MediaType = (typeof FORMATS)[FormatName]['mediaType'];

export const MEDIA_TYPES = Object.values(FORMATS).map(({ mediaType }) => mediaType);
