/** The formats of the export, by their names in `formato`. The route and its OpenAPI derive from this table. */
import { csv } from './csv.ts';
import { ndjson } from './ndjson.ts';

export const FORMATS = { ndjson, csv } as const;

export type FormatName = keyof typeof FORMATS;
export type MediaType = (typeof FORMATS)[FormatName]['mediaType'];

export const FORMAT_NAMES = Object.keys(FORMATS) as [FormatName, ...FormatName[]];
export const MEDIA_TYPES = Object.values(FORMATS).map(({ mediaType }) => mediaType);
