/** NDJSON: an object a line, and the manifest as the last one. */
import type { Format } from './format.ts';

export const ndjson: Format<'application/x-ndjson'> = {
  mediaType: 'application/x-ndjson',
  contentType: 'application/x-ndjson',
  header: '',
  line: (item) => `${JSON.stringify(item)}\n`,
  footer: (manifesto) => `${JSON.stringify({ manifesto })}\n`,
};
