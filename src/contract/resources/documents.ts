/** Document pieces as a partner sends them. */
import { z } from 'zod';
import { DOCUMENT_TYPES } from '../statuses.ts';
import { text } from '../values.ts';

/** The largest piece, decoded; five of them fit in {@link MAX_DOCUMENTS_BODY_BYTES}. */
export const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;
export const MAX_DOCUMENTS_BODY_BYTES = 56 * 1024 * 1024;

/** The archived types of content, recognised by their first bytes. */
export type MediaType = 'application/pdf' | 'image/jpeg' | 'image/png';

export const documentType = z.enum(DOCUMENT_TYPES).meta({ id: 'TipoDeDocumento' });

const ANY = '[A-Za-z0-9+/]';
/** The last character before one `=`, and before two: unused bits are zero. */
const BEFORE_1 = '[AEIMQUYcgkosw048]';
const BEFORE_2 = '[AQgw]';
const REST = `(?:${ANY}{4})*(?:${ANY}${BEFORE_2}==|${ANY}{2}${BEFORE_1}=)?`;
/** `%PDF-` with a version of two digits; the signature of PNG; a JPEG's start and its first segment's marker. */
const PDF = `JVBERi0[w-z0-5]Lj(?:[AEIMQUYcgk]=|[A-Za-n]${ANY}${REST})`;
const PNG = `iVBORw0KGg(?:o=|[o-r]${ANY}${REST})`;
const JPEG_MARKER = `(?:[w-z3-9+]${ANY}|2[g-z0-9+/]|/[A-Za-v])`;
const JPEG = `/9j/(?:(?:[w-z3-9+]${BEFORE_2}|2[gw]|/[AQg])==|${JPEG_MARKER}(?:${BEFORE_1}=|${ANY}{2}${REST}))`;

/** A PDF, PNG or JPEG in canonical base64. */
export const documentBase64 = z.string().meta({
  contentEncoding: 'base64',
  pattern: `^(?:${PDF}|${PNG}|${JPEG})$`,
  // In base64: four characters for each three bytes of the largest piece.
  maxLength: Math.floor(MAX_DOCUMENT_BYTES / 3) * 4,
  text: {
    pt: 'Um PDF, um PNG ou um JPEG em base64 canônico, de até 8 MiB depois de decodificado',
    en: 'A PDF, PNG or JPEG in canonical base64, up to 8 MiB decoded',
  },
});

export const documentContent = z.strictObject({
  nome_arquivo: text(255).optional(),
  conteudo_base64: documentBase64,
});

export const documentPiece = z.strictObject({ tipo: documentType, ...documentContent.shape });
