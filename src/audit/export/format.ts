/** A format of the export, of text or of bytes. To add one: a file like csv.ts, and its entry in formats.ts. */
import type { ExportManifest } from '../../contract/resources/audit-resource.ts';
import type { Row } from '../lists/list.ts';

export interface Format<M extends string = string> {
  /** As OpenAPI and `Accept` name it. */
  readonly mediaType: M;
  /** The media type with its parameters. */
  readonly contentType: M | `${M};${string}`;
  /** Begins a file of these columns. */
  readonly begin: (columns: readonly string[]) => FileWriter;
  /** The manifest as a last line; null where a reader would take it for a row. */
  readonly footer: ((manifest: ExportManifest) => Chunk) | null;
}

export type Chunk = string | Uint8Array;

/** What a file is made of, in this order. The manifest's digest is of all of it. */
export interface FileWriter {
  readonly head: Chunk;
  /** Some rows more. */
  readonly rows: (items: readonly Row[]) => Chunk;
  readonly end: () => Chunk;
}

/** A file of lines, one a row. */
export function linesOf(head: string, line: (item: Row) => string): FileWriter {
  return { head, rows: (items) => items.map(line).join(''), end: () => '' };
}
