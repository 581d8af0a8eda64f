/** Checks a document: strict base64, its size, and its type by its first bytes, never by its name. */
import { createHash } from 'node:crypto';
import { MAX_DOCUMENT_BYTES, type MediaType } from '../../contract/resources/documents.ts';

export interface DocumentContent {
  readonly bytes: Buffer;
  readonly mediaType: MediaType;
  /** Lower-case hex. */
  readonly sha256: string;
}

const MAX_BASE64_LENGTH = Math.ceil(MAX_DOCUMENT_BYTES / 3) * 4;

/** Decodes one piece; `refused` says in Portuguese what is wrong with it. */
export function readContent(base64: string): DocumentContent | { readonly refused: string } {
  if (base64 === '') return { refused: 'não pode ser vazio' };
  if (base64.length > MAX_BASE64_LENGTH) return tooLarge();
  if (!isCanonical(base64))
    return { refused: 'deve ser base64 canônico (A-Z a-z 0-9 + /), com preenchimento e sem espaços' };
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > MAX_DOCUMENT_BYTES) return tooLarge();
  const mediaType = mediaTypeOf(bytes);
  if (mediaType === null) return { refused: 'deve ser um PDF, um JPEG ou um PNG' };
  return { bytes, mediaType, sha256: createHash('sha256').update(bytes).digest('hex') };
}

function tooLarge(): { readonly refused: string } {
  return { refused: `tem no máximo ${MAX_DOCUMENT_BYTES / 1024 / 1024} MiB depois de decodificado` };
}

/** True for RFC 4648's one spelling of some bytes. The scan cannot backtrack; one expression would overflow its stack at 11 MB. */
function isCanonical(base64: string): boolean {
  if (base64.length % 4 !== 0) return false;
  const foreignAt = base64.search(/[^A-Za-z0-9+/]/);
  if (foreignAt !== -1 && !/^={1,2}$/.test(base64.slice(foreignAt))) return false;
  const lastGroup = base64.slice(-4);
  return Buffer.from(lastGroup, 'base64').toString('base64') === lastGroup;
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Start of image, and the first byte of the segment that must follow it. */
const JPEG_START = Buffer.from([0xff, 0xd8, 0xff]);

function mediaTypeOf(bytes: Buffer): MediaType | null {
  if (/^%PDF-\d\.\d/.test(bytes.toString('latin1', 0, 8))) return 'application/pdf';
  if (bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return 'image/png';
  const startsAsJpeg = bytes.subarray(0, JPEG_START.length).equals(JPEG_START);
  return startsAsJpeg && opensSegment(bytes[JPEG_START.length]) ? 'image/jpeg' : null;
}

/** Whether a JPEG marker opens a segment: 0xC0 to 0xFE, without the stand-alone RSTn, SOI and EOI. */
function opensSegment(marker = 0): boolean {
  return marker >= 0xc0 && marker <= 0xfe && !(marker >= 0xd0 && marker <= 0xd9);
}
