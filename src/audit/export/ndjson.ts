/** NDJSON: an object a line, and the manifest as the last one. */
import { type Format, linesOf } from './format.ts';

export const ndjson: Format<'application/x-ndjson'> = {
  mediaType: 'application/x-ndjson',
  contentType: 'application/x-ndjson',
  begin: () => linesOf('', (item) => `${JSON.stringify(item)}\n`),
  footer: (manifesto) => `${JSON.stringify({ manifesto })}\n`,
};
