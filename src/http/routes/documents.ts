/** The signed package and the registry's documents. */
import { z } from 'zod';
import * as contract from '../../contract/resources/documents.ts';
import { loanResource } from '../../contract/resources/loan-resource.ts';
import { DOCUMENT_TYPES } from '../../contract/statuses.ts';
import { readContent } from '../../core/documents/document-content.ts';
import {
  deliverDocument,
  deliverMissingDocuments,
  deliverPackage,
  type Document,
} from '../../core/documents/documents.ts';
import { readLoan } from '../../core/loans/read-loan.ts';
import { view } from '../../loan/view.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';

const content = contract.documentBase64.transform((base64, context) => {
  const read = readContent(base64);
  if (!('refused' in read)) return read;
  context.addIssue({ code: 'custom', message: read.refused });
  return z.NEVER;
});
const pieceBody = contract.documentContent.extend({ conteudo_base64: content });
const packageBody = z.strictObject({
  documentos: z.array(contract.documentPiece.extend({ conteudo_base64: content })).meta({
    minItems: 1,
    maxItems: DOCUMENT_TYPES.length,
    text: { pt: 'Cada tipo no máximo uma vez', en: 'Each tipo at most once' },
  }),
});

export function addDocumentRoutes(add: AddOperation, { pool }: HttpDeps): void {
  const shared = {
    method: 'post',
    scope: 'emprestimos:write',
    maxBodyBytes: contract.MAX_DOCUMENTS_BODY_BYTES,
    exists: async (partnerId: string, id: string) => (await readLoan(pool, partnerId, id)) !== null,
    answers: { 200: { description: { pt: 'O empréstimo', en: 'The loan' }, schema: loanResource } },
    errors: ['NAO_ENCONTRADO', 'TRANSICAO_INVALIDA'],
  } as const;

  add(
    {
      ...shared,
      path: '/v1/emprestimos/{id}/documentos',
      summary: {
        pt: 'Envia o pacote assinado inteiro (agrupada) ou a CCB assinada antes dos outros (diferida)',
        en: 'Sends the whole signed package (agrupada), or the signed CCB ahead of the others (diferida)',
      },
      body: packageBody,
    },
    async ({ partnerId, actor, requestId, id, body }) => {
      const handled = await deliverPackage(pool, { partnerId, actor, requestId }, id, documentsOf(body));
      return 'refused' in handled ? handled : { status: 200, body: view(handled.ok) };
    },
  );

  add(
    {
      ...shared,
      path: '/v1/emprestimos/{id}/documentos-dataprev',
      summary: {
        pt: 'Entrega de uma vez todos os documentos que faltam',
        en: 'Hands in all missing documents at once',
      },
      body: packageBody,
    },
    async ({ partnerId, actor, requestId, id, body }) => {
      const handled = await deliverMissingDocuments(pool, { partnerId, actor, requestId }, id, documentsOf(body));
      return 'refused' in handled ? handled : { status: 200, body: view(handled.ok) };
    },
  );

  add(
    {
      ...shared,
      path: '/v1/emprestimos/{id}/documentos/{tipo}',
      params: { tipo: contract.documentType },
      summary: {
        pt: 'Entrega um dos documentos que faltam; o último encerra a entrega',
        en: 'Hands in one of the missing documents; the last one ends the obligation',
      },
      body: pieceBody,
    },
    async ({ partnerId, actor, requestId, id, params, body }) => {
      const document = documentOf(params.tipo, body);
      const handled = await deliverDocument(pool, { partnerId, actor, requestId }, id, document);
      return 'refused' in handled ? handled : { status: 200, body: view(handled.ok) };
    },
  );
}

function documentsOf({ documentos }: z.output<typeof packageBody>): Document[] {
  return documentos.map(({ tipo, ...piece }) => documentOf(tipo, piece));
}

function documentOf(type: Document['type'], piece: z.output<typeof pieceBody>): Document {
  return { type, fileName: piece.nome_arquivo ?? null, content: piece.conteudo_base64 };
}
