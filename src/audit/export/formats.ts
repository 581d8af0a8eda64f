/** The formats of the export, by their names in `formato`. The route and its OpenAPI derive from this table. */
import type { EXPORT_FORMATS } from '../../contract/resources/audit-lists.ts';
import { csv } from './csv.ts';
import { ndjson } from './ndjson.ts';

export const FORMATS = { ndjson, csv } as const satisfies Record<(typeof EXPORT_FORMATS)[number], unknown>;

export type FormatName = keyof typeof FORMATS;
export type MediaType = (typeof FORMATS)[FormatName]['mediaType'];

export const MEDIA_TYPES = Object.values(FORMATS).map(({ mediaType }) => mediaType);
