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
import { answerFact, CORE_DOOR, factOf } from './loan-facts.ts';

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

const SHARED = {
  method: 'post',
  maxBodyBytes: contract.MAX_DOCUMENTS_BODY_BYTES,
  answers: { 200: { description: { pt: 'O empréstimo', en: 'The loan' }, schema: loanResource } },
} as const;
const PACKAGE = {
  name: 'documentos',
  summary: {
    pt: 'Envia o pacote assinado inteiro (agrupada) ou a CCB assinada antes dos outros (diferida)',
    en: 'Sends the whole signed package (agrupada), or the signed CCB ahead of the others (diferida)',
  },
  deliver: deliverPackage,
} as const;
const MISSING = {
  name: 'documentos-dataprev',
  summary: { pt: 'Entrega de uma vez todos os documentos que faltam', en: 'Hands in all missing documents at once' },
  deliver: deliverMissingDocuments,
} as const;

export function addDocumentRoutes(add: AddOperation, { pool }: HttpDeps): void {
  const shared = {
    ...SHARED,
    scope: 'emprestimos:write',
    ownCore: true,
    exists: existsIn(pool),
    errors: ['NAO_ENCONTRADO', 'TRANSICAO_INVALIDA'],
  } as const;
  for (const { name, summary, deliver } of [PACKAGE, MISSING]) {
    add({ ...shared, path: `/v1/emprestimos/{id}/${name}`, summary, body: packageBody }, async (call) => {
      const { partnerId, actor, requestId, id, body } = call;
      const handled = await deliver(pool, { partnerId, actor, requestId }, id, documentsOf(body));
      return 'refused' in handled ? handled : { status: 200, body: view(handled.ok) };
    });
  }
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

/** The same packages from the lender's own core, of any loan. */
export function addCoreDocumentRoutes(add: AddOperation, { pool }: HttpDeps): void {
  for (const { name, summary, deliver } of [PACKAGE, MISSING]) {
    const path = `${CORE_DOOR.prefix}/emprestimos/{id}/${name}`;
    const operation = { ...SHARED, ...factOf(CORE_DOOR), exists: existsIn(pool), path, summary, body: packageBody };
    add(operation, async (call) => {
      const documents = documentsOf(call.body);
      // What a key stands for: the pieces' digests, so that no megabyte is hashed a second time.
      const digests = documents.map(({ type, content: { sha256 } }) => ({ type, sha256 }));
      return answerFact(pool, path, { ...call, body: digests }, (within, asker) =>
        deliver(within, asker, call.id, documents),
      );
    });
  }
}

function existsIn(pool: HttpDeps['pool']) {
  return async (partnerId: string | null, id: string) => (await readLoan(pool, partnerId, id)) !== null;
}

function documentsOf({ documentos }: z.output<typeof packageBody>): Document[] {
  return documentos.map(({ tipo, ...piece }) => documentOf(tipo, piece));
}

function documentOf(type: Document['type'], piece: z.output<typeof pieceBody>): Document {
  return { type, fileName: piece.nome_arquivo ?? null, content: piece.conteudo_base64 };
}
