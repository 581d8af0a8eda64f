/** A text format of the export. To add one: a file like csv.ts, and its entry in formats.ts. */
import {
  auditedAttempt,
  type AuditedAttemptResource,
  type ExportManifest,
} from '../../contract/resources/audit-resource.ts';

export interface Format<M extends string = string> {
  /** As OpenAPI and `Accept` name it. */
  readonly mediaType: M;
  /** The media type with its parameters. */
  readonly contentType: M | `${M};${string}`;
  /** Before the first line. */
  readonly header: string;
  readonly line: (item: AuditedAttemptResource) => string;
  /** The manifest as a last line; null where a reader would take it for a row. */
  readonly footer: ((manifest: ExportManifest) => string) | null;
}

export const COLUMNS = Object.keys(auditedAttempt.shape) as (keyof AuditedAttemptResource)[];
