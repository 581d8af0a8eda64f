/**
 * Document pieces: archived and recorded in the loan's log. The last missing piece ends the obligation.
 *
 * Invariant: `documents` holds a piece exactly when the log holds its `documento.recebido` with the same SHA-256; both commit in
 * the command's transaction. The log never holds a byte of a piece. Bytes are hashed before the transaction, and sent only after
 * the loan accepted them and won its version. Alternative: archiving first; it needs a sweep for pieces that no loan knows of.
 */
import type { DocumentType } from '../../contract/statuses.ts';
import type { Tx } from '../../db/pool.ts';
import type { DocumentPiece } from '../../loan/command.ts';
import type { DocumentContent } from './document-content.ts';
import { type Asker, type Handled, handleLoan, type Transactor, type Within } from '../loans/handle-loan.ts';

export interface Document {
  readonly type: DocumentType;
  readonly fileName: string | null;
  readonly content: DocumentContent;
}

/** `POST …/documentos`: the whole package (grouped) or the CCB ahead (deferred). */
export const deliverPackage = delivering('deliverPackage');

/** `POST …/documentos-dataprev`: every piece that is still missing, at once. */
export const deliverMissingDocuments = delivering('deliverMissingDocuments');

function delivering(type: 'deliverPackage' | 'deliverMissingDocuments') {
  return async (within: Transactor, asker: Asker, loanId: string, documents: readonly Document[]): Promise<Handled> =>
    handleLoan(within, asker, loanId, () => ({ type, documents: documents.map(pieceOf) }), archiving(documents));
}

/** `POST …/documentos/{tipo}`: one piece; the last one ends the obligation as the batch does. */
export async function deliverDocument(
  within: Transactor,
  asker: Asker,
  loanId: string,
  document: Document,
): Promise<Handled> {
  const command = { type: 'deliverDocument', document: pieceOf(document) } as const;
  return handleLoan(within, asker, loanId, () => command, archiving([document]));
}

function pieceOf({ type, content }: Document): DocumentPiece {
  return { type, sha256: content.sha256 };
}

function archiving(documents: readonly Document[]): Within {
  return async (tx, { partnerId, state, now }) => {
    // One at a time: the driver holds a statement's bytes as text twice their size until they are sent.
    for (const document of documents) await archive(tx, partnerId, state.id, document, now);
  };
}

/** The table's own check compares the digest with the bytes that arrived. */
async function archive(tx: Tx, partnerId: string, loanId: string, document: Document, now: Date): Promise<void> {
  const { type, fileName, content } = document;
  await tx`
    insert into documents (loan_id, type, partner_id, file_name, media_type, sha256, content, received_at)
    values (${loanId}, ${type}, ${partnerId}, ${fileName}, ${content.mediaType},
            ${Buffer.from(content.sha256, 'hex')}, ${content.bytes}, ${now})`;
}
