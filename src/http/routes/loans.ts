/** Loans and their registration; the loans that moved last, and the way that one took. */
import { z } from 'zod';
import type { Bilingual } from '../../contract/language.ts';
import { loanIssued } from '../../contract/payloads.ts';
import { LOAN_EXAMPLE } from '../../contract/resources/loan-example.ts';
import {
  createLoan as createLoanSchema,
  loanResource,
  registrationProgress,
  registrationResource,
  loanHistory,
  recentLoans,
} from '../../contract/resources/loan-resource.ts';
import { NO_REGISTRY, NOT_FOUND } from '../../contract/refusals.ts';
import { createLoan } from '../../core/loans/create-loan.ts';
import { readLoan, readRegistration } from '../../core/loans/read-loan.ts';
import { requestRegistration } from '../../core/loans/registration.ts';
import { view, viewRegistration } from '../../loan/view.ts';
import { answered } from '../answer.ts';
import { KEY_ERRORS, route, type Routes } from '../route.ts';
import { readLoanHistory } from '../../core/loans/loan-history.ts';
import { readRecentLoans } from '../../log/recent-loans.ts';
import { limite } from '../page.ts';

/** The largest version that the log can hold; above it the answer is known without looking. */
export const MAX_VERSION = 2 ** 31 - 1;

const LOAN = {
  schema: loanResource,
  headers: { Location: { pt: 'O caminho do empréstimo', en: "The loan's path" } },
} as const;
export const ISSUED = {
  201: { ...LOAN, description: { pt: 'Emitido de forma síncrona', en: 'Issued synchronously' } },
  202: {
    ...LOAN,
    description: { pt: 'Emissão assíncrona em andamento', en: 'An asynchronous issuance is under way' },
  },
} as const;

const VERSION = 'deve ser um número inteiro a partir de 1';
const WHOLE = 'deve ser um número inteiro';
const version = (text: Bilingual) =>
  z
    .string({ error: VERSION })
    .regex(/^[1-9]\d*$/, VERSION)
    .transform(Number)
    .optional()
    .meta({ type: 'integer', minimum: 1, text });

export const versionQuery = z.strictObject({
  versao: version({
    pt: 'O empréstimo como estava logo depois do seu n-ésimo evento',
    en: 'The loan as it was right after its n-th event',
  }),
});

export const loanRoutes: Routes = [
  route('POST /v1/emprestimos', 'emprestimos:write', {
    ownCore: true,
    summary: { pt: 'Emite um empréstimo', en: 'Issues a loan' },
    body: createLoanSchema,
    bodyExample: LOAN_EXAMPLE,
    idempotencyKey: 'required',
    answers: ISSUED,
    errors: KEY_ERRORS,
  })(async ({ partnerId, actor, requestId, body, idempotencyKey }, { pool }) => {
    const created = await createLoan(pool, { partnerId, actor, requestId }, idempotencyKey, body);
    if ('refused' in created) return created;
    const { status, body: loan } = created.ok.answer;
    return { status, body: loan, headers: { Location: `/v1/emprestimos/${loan.id}` } };
  }),
  route('GET /v1/emprestimos/{id}', 'emprestimos:read', {
    summary: {
      pt: 'Lê um empréstimo, como está ou como estava numa versão',
      en: 'Reads a loan, as it is or as it was at a version',
    },
    query: versionQuery,
    answers: answered(200, loanResource, { pt: 'O empréstimo', en: 'The loan' }),
  })(async ({ partnerId, id, query: { versao } }, { pool }) => {
    if (versao !== undefined && versao > MAX_VERSION) return NOT_FOUND;
    const state = await readLoan(pool, partnerId, id, versao);
    return state === null ? NOT_FOUND : { status: 200, body: view(state) };
  }),
  route('POST /v1/emprestimos/{id}/averbacao', 'emprestimos:write', {
    ownCore: true,
    summary: { pt: 'Pede a averbação do empréstimo', en: "Asks for the loan's registration" },
    answers: answered(202, registrationResource, {
      pt: 'Averbação em processamento',
      en: 'The registration is being processed',
    }),
    errors: ['TRANSICAO_INVALIDA'],
  })(async ({ partnerId, actor, requestId, id }, { pool, registry }) => {
    if (registry === null) return NO_REGISTRY;
    const requested = await requestRegistration(pool, { partnerId, actor, requestId }, id);
    if ('refused' in requested) return requested;
    const registration = viewRegistration(requested.ok);
    if (registration === null) throw new Error(`loan ${id} asked for a registration and has none`);
    return { status: 202, body: registration };
  }),
  route('GET /v1/emprestimos/{id}/averbacao', 'emprestimos:read', {
    summary: { pt: 'Lê a última averbação do empréstimo', en: "Reads the loan's latest registration" },
    answers: answered(200, registrationProgress, { pt: 'A última averbação', en: 'The latest registration' }),
  })(async ({ partnerId, id }, { pool }) => {
    const registration = await readRegistration(pool, partnerId, id);
    return registration === null ? NOT_FOUND : { status: 200, body: registration };
  }),
  route('GET /v1/emprestimos', 'emprestimos:read', {
    summary: {
      pt: 'Os empréstimos que se moveram por último, do mais novo ao mais antigo',
      en: 'The loans that moved last, the newest first',
    },
    description: {
      pt: 'São os dos 2.000 eventos mais novos do parceiro; para tudo, leia GET /v1/eventos.',
      en: "They are those of the partner's newest 2,000 events; for everything read GET /v1/eventos.",
    },
    query: z.strictObject({
      limite,
      numero: loanIssued.shape.numero
        .optional()
        .meta({ text: { pt: 'Só o empréstimo deste número', en: 'The loan of this number alone' }, 'x-since': '0.4' }),
    }),
    answers: answered(200, recentLoans, { pt: 'Os empréstimos', en: 'The loans' }),
  })(async ({ partnerId, query: { limite: limit, numero } }, { pool }) => {
    const loans = await readRecentLoans(pool, partnerId, limit, numero);
    const itens = loans.map(({ id, number, status, version, lastEvent, at }) => ({
      id,
      numero: number,
      status,
      versao: version,
      ultimo_evento: lastEvent,
      atualizado_em: at.toISOString(),
    }));
    return { status: 200, body: { itens } };
  }),
  route('GET /v1/emprestimos/{id}/historico', 'emprestimos:read', {
    summary: {
      pt: 'Cada evento de um empréstimo, com o estado a que levou e as suas entregas',
      en: 'Each event of a loan, with the state that it led to and its deliveries',
    },
    description: {
      pt: 'Traz também os fatos que nunca são enviados, sem entregas. situacao_documentos é a de entrega_docs_registry.',
      en: 'It brings the facts that are never sent, too, without deliveries. situacao_documentos is that of entrega_docs_registry.',
    },
    query: z.strictObject({
      desde_versao: z
        .string({ error: WHOLE })
        .regex(/^(-?[1-9]\d*|0)$/, WHOLE)
        .transform(Number)
        .optional()
        .meta({
          type: 'integer',
          text: {
            pt: 'Os eventos desta versão em diante. As de histórico que veio depois do primeiro evento ficam abaixo de 1',
            en: 'The events from this version on. Those of history that came behind the first event lie below 1',
          },
        }),
      limite,
    }),
    answers: answered(200, loanHistory, { pt: 'Os eventos', en: 'The events' }),
  })(async ({ partnerId, id, query: { desde_versao: from = null, limite: most } }, { pool }) => {
    if (from !== null && Math.abs(from) > MAX_VERSION) return NOT_FOUND;
    const history = await readLoanHistory(pool, partnerId, id, { from, most });
    return history === null ? NOT_FOUND : { status: 200, body: history };
  }),
];
