/** The parts of the systems around the lender that a partner plays in the sandbox. */
import { z } from 'zod';
import { authorizationConfirmed } from '../../contract/payloads.ts';
import { NOT_FOUND } from '../../contract/refusals.ts';
import { acceptance } from '../../contract/resources/acceptance.ts';
import { closedMonth } from '../../contract/resources/nucleus-resource.ts';
import { id as uuid, month, text } from '../../contract/values.ts';
import { readLoan } from '../../core/loans/read-loan.ts';
import { confirmAuthorization } from '../../core/margin/authorization.ts';
import { closeSettlement } from '../../core/settlement/settlement.ts';
import { advanceTime } from '../../delivery/partner/advance.ts';
import { answerNextRegistration } from '../../registry/simulated.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { addLoanFactRoutes, SANDBOX_DOOR } from './loan-facts.ts';
import { addSandboxBondRoutes } from './sandbox-bonds.ts';
import { addSandboxMarginRoutes } from './sandbox-margin.ts';

const MAX_ADVANCE_S = 366 * 24 * 60 * 60;
const MAX_REASON_LENGTH = 500;
const DEFAULT_REGISTRATION_ERROR = 'Averbação recusada pelo registry';

const scope = 'sandbox';

/** Every route of the sandbox. Production never loads this module: it reaches into the simulated registry. */
export function addSandbox(add: AddOperation, deps: HttpDeps): void {
  addLoanFactRoutes(add, deps, SANDBOX_DOOR);
  addRegistration(add, deps);
  addTime(add, deps);
  addAuthorizations(add, deps);
  addSandboxMarginRoutes(add, deps);
  addSandboxBondRoutes(add, deps);
  addSettlements(add, deps);
}

function addRegistration(add: AddOperation, { pool }: HttpDeps): void {
  const outcome = z.enum(['concluida', 'falhou']);
  add(
    {
      method: 'put',
      path: '/v1/sandbox/emprestimos/{id}/averbacao',
      summary: {
        pt: 'O que o registry responde à próxima averbação',
        en: 'What the registry answers to the next registration',
      },
      scope,
      body: z.strictObject({ resultado: outcome, erro: text(MAX_REASON_LENGTH).optional() }),
      answers: {
        200: {
          description: { pt: 'O que o registry vai responder', en: 'What the registry will answer' },
          schema: z.strictObject({ emprestimo_id: uuid, resultado: outcome, erro: z.string().nullable() }),
        },
      },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ partnerId, id, body: { resultado, erro: given } }) => {
      if ((await readLoan(pool, partnerId, id)) === null) return NOT_FOUND;
      const erro = resultado === 'falhou' ? (given ?? DEFAULT_REGISTRATION_ERROR) : null;
      await pool.transaction((tx) => answerNextRegistration(tx, id, erro));
      return { status: 200, body: { emprestimo_id: id, resultado, erro } };
    },
  );
}

function addTime(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: '/v1/sandbox/tempo',
      summary: {
        pt: 'Adianta as entregas pendentes do parceiro',
        en: "Makes the partner's pending deliveries due earlier",
      },
      scope,
      body: z.strictObject({ avancar_segundos: z.int().min(1).max(MAX_ADVANCE_S) }),
      answers: {
        200: {
          description: { pt: 'Quantas entregas foram adiantadas', en: 'How many deliveries became due earlier' },
          schema: z.strictObject({ entregas_adiantadas: z.int() }),
        },
      },
    },
    async ({ partnerId, body }) => {
      const moved = await pool.transaction((tx) => advanceTime(tx, partnerId, body.avancar_segundos));
      return { status: 200, body: { entregas_adiantadas: moved } };
    },
  );
}

function addAuthorizations(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: '/v1/sandbox/autorizacoes',
      summary: { pt: 'O trabalhador aceita a autorização', en: 'The worker accepts the authorization' },
      scope,
      body: acceptance,
      answers: {
        201: {
          description: { pt: 'A autorização confirmada', en: 'The confirmed authorization' },
          schema: authorizationConfirmed,
        },
      },
    },
    async ({ partnerId, actor, requestId, body }) => ({
      status: 201,
      body: await confirmAuthorization(pool, { partnerId, actor, requestId }, body),
    }),
  );
}

function addSettlements(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: '/v1/sandbox/repasses',
      summary: {
        pt: 'O repasse do mês fecha; fechar de novo responde o que existe, com ja_fechado true',
        en: 'The settlement of the month closes; closing it again answers what there is, with ja_fechado true',
      },
      scope,
      body: z.strictObject({ competencia: month }),
      answers: { 200: { description: { pt: 'O repasse', en: 'The settlement' }, schema: closedMonth } },
      errors: ['TRANSICAO_INVALIDA'],
    },
    async ({ partnerId, actor, requestId, body: { competencia } }) => {
      const closing = await closeSettlement(pool, { partnerId, actor, requestId }, competencia);
      if ('refused' in closing) return closing;
      const { settlement, alreadyClosed } = closing.ok;
      return { status: 200, body: { ...settlement, ja_fechado: alreadyClosed } };
    },
  );
}
