/** Document pieces as a partner sends them: the shortest bytes that are accepted as a PDF, a JPEG and a PNG. */
import { createHash } from 'node:crypto';
import { DOCUMENT_TYPES, type DocumentType } from '../../src/contract/statuses.ts';

export const PDF = Buffer.from('%PDF-1.7\n% contrato');
export const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10, 0x4a, 0x46, 0x49, 0x46]);
export const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00]);

export const CONTENTS: Readonly<Record<DocumentType, Buffer>> = {
  ccb_assinada: PDF,
  selfie: JPEG,
  documento_frente: PNG,
  documento_verso: Buffer.concat([PNG, Buffer.from('verso')]),
  evidencias: Buffer.concat([PDF, Buffer.from('evidências')]),
};

export interface SentPiece {
  readonly tipo: string;
  readonly nome_arquivo?: string;
  readonly conteudo_base64: string;
}

/** The body of `documentos` and `documentos-dataprev`. */
export function packageOf(types: readonly DocumentType[] = DOCUMENT_TYPES): { documentos: SentPiece[] } {
  return { documentos: types.map((tipo) => ({ tipo, nome_arquivo: `${tipo}.bin`, ...contentOf(tipo) })) };
}

/** The body of `documentos/{tipo}`. */
export function contentOf(type: DocumentType): { readonly conteudo_base64: string } {
  return { conteudo_base64: CONTENTS[type].toString('base64') };
}

export function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
