/** The parts of the systems around the lender that a partner plays in the sandbox (decisions, "Sandbox"). */
import { z } from 'zod';
import { loanResource } from '../../contract/loan-resource.ts';
import { date, id as uuid, text } from '../../contract/values.ts';
import { failDisbursement, settleDisbursement } from '../../core/disbursement.ts';
import { readLoan } from '../../core/read-loan.ts';
import { concludeSigning } from '../../core/signing.ts';
import { advanceTime } from '../../delivery/advance.ts';
import { view } from '../../loan/view.ts';
import { answerNextRegistration } from '../../registry/simulated.ts';
import { notFound } from '../api-error.ts';
import type { HttpDeps } from '../deps.ts';
import { handledLoan } from '../handled.ts';
import type { AddOperation } from '../operation.ts';

const MAX_ADVANCE_S = 366 * 24 * 60 * 60;
const MAX_REASON_LENGTH = 500;
const DEFAULT_REGISTRATION_ERROR = 'Averbação recusada pelo registry';
const SETTLED_ON = 'Do dia da contratação a hoje, em São Paulo; sem ela, hoje';
const DEFAULT_DISBURSEMENT_REASON = 'Transferência recusada pelo banco';

const scope = 'sandbox';
const loanAnswer = { 200: { description: 'O empréstimo', schema: loanResource } };
const loanErrors = ['ERRO_VALIDACAO', 'NAO_ENCONTRADO', 'TRANSICAO_INVALIDA'] as const;

export function addSandboxRoutes(add: AddOperation, deps: HttpDeps): void {
  addSigning(add, deps);
  addRegistration(add, deps);
  addDisbursement(add, deps);
  addTime(add, deps);
}

function addSigning(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: '/v1/sandbox/emprestimos/{id}/assinatura',
      summary: 'O provedor interno finaliza o documento',
      scope,
      answers: loanAnswer,
      errors: loanErrors,
    },
    async ({ partnerId, actor, requestId, id }, c) =>
      c.json(view(handledLoan(await concludeSigning(pool, { partnerId, actor, requestId }, id))), 200),
  );
}

function addRegistration(add: AddOperation, { pool }: HttpDeps): void {
  const outcome = z.enum(['concluida', 'falhou']);
  add(
    {
      method: 'put',
      path: '/v1/sandbox/emprestimos/{id}/averbacao',
      summary: 'O que o registry responde à próxima averbação',
      scope,
      body: z.strictObject({ resultado: outcome, erro: text(MAX_REASON_LENGTH).optional() }),
      answers: {
        200: {
          description: 'O que o registry vai responder',
          schema: z.strictObject({ emprestimo_id: uuid, resultado: outcome, erro: z.string().nullable() }),
        },
      },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ partnerId, id, body: { resultado, erro: given } }, c) => {
      if ((await readLoan(pool, partnerId, id)) === null) throw notFound();
      const erro = resultado === 'falhou' ? (given ?? DEFAULT_REGISTRATION_ERROR) : null;
      await pool.transaction((tx) => answerNextRegistration(tx, id, erro));
      return c.json({ emprestimo_id: id, resultado, erro }, 200);
    },
  );
}

function addDisbursement(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: '/v1/sandbox/emprestimos/{id}/desembolso',
      summary: 'A transferência do banco termina',
      scope,
      body: z.strictObject({
        resultado: z.enum(['liquidado', 'falhou']),
        motivo: text(MAX_REASON_LENGTH).optional(),
        data_liberacao: date.optional().meta({ description: SETTLED_ON }),
      }),
      answers: loanAnswer,
      errors: loanErrors,
    },
    async ({ partnerId, actor, requestId, id, body }, c) => {
      const provenance = { partnerId, actor, requestId };
      const handled =
        body.resultado === 'liquidado'
          ? await settleDisbursement(pool, provenance, id, body.data_liberacao)
          : await failDisbursement(pool, provenance, id, body.motivo ?? DEFAULT_DISBURSEMENT_REASON);
      return c.json(view(handledLoan(handled)), 200);
    },
  );
}

function addTime(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: '/v1/sandbox/tempo',
      summary: 'Adianta as entregas pendentes do parceiro',
      scope,
      body: z.strictObject({ avancar_segundos: z.int().min(1).max(MAX_ADVANCE_S) }),
      answers: {
        200: {
          description: 'Quantas entregas foram adiantadas',
          schema: z.strictObject({ entregas_adiantadas: z.int() }),
        },
      },
    },
    async ({ partnerId, body }, c) => {
      const moved = await pool.transaction((tx) => advanceTime(tx, partnerId, body.avancar_segundos));
      return c.json({ entregas_adiantadas: moved }, 200);
    },
  );
}
