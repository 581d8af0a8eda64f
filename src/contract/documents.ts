/** Document pieces as a partner sends them (decisions, "Endpoints": `documentos`, `documentos-dataprev`). */
import { z } from 'zod';
import { DOCUMENT_TYPES } from './statuses.ts';
import { text } from './values.ts';

/** The largest piece, decoded; five of them fit in {@link MAX_DOCUMENTS_BODY_BYTES}. */
export const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;
export const MAX_DOCUMENTS_BODY_BYTES = 56 * 1024 * 1024;

/** The types of content that are archived, told apart by their first bytes. */
export type MediaType = 'application/pdf' | 'image/jpeg' | 'image/png';

export const documentType = z.enum(DOCUMENT_TYPES).meta({ id: 'TipoDeDocumento' });

/** One piece whose type is in the path. */
export const documentContent = z.strictObject({ nome_arquivo: text(255).optional(), conteudo_base64: z.string() });

/** One piece of several. */
export const documentPiece = z.strictObject({ tipo: documentType, ...documentContent.shape });
