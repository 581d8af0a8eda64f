/** Loans and their registration. */
import { z } from 'zod';
import { LOAN_EXAMPLE } from '../../contract/resources/loan-example.ts';
import {
  createLoan as createLoanSchema,
  loanResource,
  registrationResource,
} from '../../contract/resources/loan-resource.ts';
import { NO_REGISTRY, NOT_FOUND } from '../../contract/refusals.ts';
import { createLoan } from '../../core/loans/create-loan.ts';
import { readLoan, readRegistration } from '../../core/loans/read-loan.ts';
import { requestRegistration } from '../../core/loans/registration.ts';
import { view, viewRegistration } from '../../loan/view.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';

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

export const versionQuery = z.strictObject({
  versao: z
    .string({ error: 'deve ser um número inteiro a partir de 1' })
    .regex(/^[1-9]\d*$/, 'deve ser um número inteiro a partir de 1')
    .transform(Number)
    .optional()
    .meta({
      type: 'integer',
      minimum: 1,
      text: {
        pt: 'O empréstimo como estava logo depois do seu n-ésimo evento',
        en: 'The loan as it was right after its n-th event',
      },
    }),
});

export function addLoanRoutes(add: AddOperation, deps: HttpDeps): void {
  addLoans(add, deps);
  addRegistrations(add, deps);
}

function addLoans(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'post',
      ownCore: true,
      path: '/v1/emprestimos',
      summary: { pt: 'Emite um empréstimo', en: 'Issues a loan' },
      scope: 'emprestimos:write',
      body: createLoanSchema,
      bodyExample: LOAN_EXAMPLE,
      idempotencyKey: 'required',
      answers: ISSUED,
      errors: ['IDEMPOTENCIA_EM_ANDAMENTO', 'IDEMPOTENCIA_DIVERGENTE'],
    },
    async ({ partnerId, actor, requestId, body, idempotencyKey }) => {
      const created = await createLoan(pool, { partnerId, actor, requestId }, idempotencyKey, body);
      if ('refused' in created) return created;
      const { status, location, body: loan } = created.ok.answer;
      return { status, body: loan, headers: { Location: location } };
    },
  );

  add(
    {
      method: 'get',
      path: '/v1/emprestimos/{id}',
      summary: {
        pt: 'Lê um empréstimo, como está ou como estava numa versão',
        en: 'Reads a loan, as it is or as it was at a version',
      },
      scope: 'emprestimos:read',
      query: versionQuery,
      answers: { 200: { description: { pt: 'O empréstimo', en: 'The loan' }, schema: loanResource } },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ partnerId, id, query: { versao } }) => {
      if (versao !== undefined && versao > MAX_VERSION) return NOT_FOUND;
      const state = await readLoan(pool, partnerId, id, versao);
      return state === null ? NOT_FOUND : { status: 200, body: view(state) };
    },
  );
}

function addRegistrations(add: AddOperation, { pool, registry }: HttpDeps): void {
  add(
    {
      method: 'post',
      ownCore: true,
      path: '/v1/emprestimos/{id}/averbacao',
      summary: { pt: 'Pede a averbação do empréstimo', en: "Asks for the loan's registration" },
      scope: 'emprestimos:write',
      answers: {
        202: {
          description: { pt: 'Averbação em processamento', en: 'The registration is being processed' },
          schema: registrationResource,
        },
      },
      errors: ['ERRO_VALIDACAO', 'NAO_ENCONTRADO', 'TRANSICAO_INVALIDA'],
    },
    async ({ partnerId, actor, requestId, id }) => {
      if (registry === null) return NO_REGISTRY;
      const requested = await requestRegistration(pool, { partnerId, actor, requestId }, id);
      if ('refused' in requested) return requested;
      const registration = viewRegistration(requested.ok);
      if (registration === null) throw new Error(`loan ${id} asked for a registration and has none`);
      return { status: 202, body: registration };
    },
  );

  add(
    {
      method: 'get',
      path: '/v1/emprestimos/{id}/averbacao',
      summary: { pt: 'Lê a última averbação do empréstimo', en: "Reads the loan's latest registration" },
      scope: 'emprestimos:read',
      answers: {
        200: { description: { pt: 'A última averbação', en: 'The latest registration' }, schema: registrationResource },
      },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ partnerId, id }) => {
      const registration = await readRegistration(pool, partnerId, id);
      return registration === null ? NOT_FOUND : { status: 200, body: registration };
    },
  );
}
