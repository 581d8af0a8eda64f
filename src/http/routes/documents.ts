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
import type { Pool } from '../../db/pool.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';
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
  maxBodyBytes: contract.MAX_DOCUMENTS_BODY_BYTES,
  exists: async (pool: Pool, partnerId: string | null, id: string) => (await readLoan(pool, partnerId, id)) !== null,
  answers: answered(200, loanResource, { pt: 'O empréstimo', en: 'The loan' }),
} as const;
const OF_PARTNER = { ...SHARED, ownCore: true, errors: ['TRANSICAO_INVALIDA'] } as const;
const SEVERAL = [
  {
    name: 'documentos',
    summary: {
      pt: 'Envia o pacote assinado inteiro (agrupada) ou a CCB assinada antes dos outros (diferida)',
      en: 'Sends the whole signed package (agrupada), or the signed CCB ahead of the others (diferida)',
    },
    deliver: deliverPackage,
  },
  {
    name: 'documentos-dataprev',
    summary: { pt: 'Entrega de uma vez todos os documentos que faltam', en: 'Hands in all missing documents at once' },
    deliver: deliverMissingDocuments,
  },
] as const;

export const documentRoutes: Routes = [
  ...SEVERAL.map(({ name, summary, deliver }) =>
    route(`POST /v1/emprestimos/{id}/${name}`, 'emprestimos:write', { ...OF_PARTNER, summary, body: packageBody })(
      async ({ partnerId, actor, requestId, id, body }, { pool }) => {
        const handled = await deliver(pool, { partnerId, actor, requestId }, id, documentsOf(body));
        return 'refused' in handled ? handled : { status: 200, body: view(handled.ok) };
      },
    ),
  ),
  route('POST /v1/emprestimos/{id}/documentos/{tipo}', 'emprestimos:write', {
    ...OF_PARTNER,
    params: { tipo: contract.documentType },
    summary: {
      pt: 'Entrega um dos documentos que faltam; o último encerra a entrega',
      en: 'Hands in one of the missing documents; the last one ends the obligation',
    },
    body: pieceBody,
  })(async ({ partnerId, actor, requestId, id, params, body }, { pool }) => {
    const document = documentOf(params.tipo, body);
    const handled = await deliverDocument(pool, { partnerId, actor, requestId }, id, document);
    return 'refused' in handled ? handled : { status: 200, body: view(handled.ok) };
  }),
];

/** The same packages from the lender's own core, of any loan. */
export const coreDocumentRoutes: Routes = SEVERAL.map(({ name, summary, deliver }) =>
  route(`POST /v1/nucleo/emprestimos/{id}/${name}`, 'nucleo', {
    since: '0.3',
    ...SHARED,
    ...factOf(CORE_DOOR),
    summary,
    body: packageBody,
  })(async (call, { pool }) => {
    const documents = documentsOf(call.body);
    // What a key stands for: the pieces' digests, so that no megabyte is hashed a second time.
    const digests = documents.map(({ type, content: { sha256 } }) => ({ type, sha256 }));
    return answerFact(pool, { ...call, body: digests }, (within, asker) => deliver(within, asker, call.id, documents));
  }),
);

function documentsOf({ documentos }: z.output<typeof packageBody>): Document[] {
  return documentos.map(({ tipo, ...piece }) => documentOf(tipo, piece));
}

function documentOf(type: Document['type'], piece: z.output<typeof pieceBody>): Document {
  return { type, fileName: piece.nome_arquivo ?? null, content: piece.conteudo_base64 };
}
