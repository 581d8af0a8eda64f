/**
 * The facts of a loan that come from the lender's own systems: signed, issued, disbursed. The same three operations behind
 * two doors: the sandbox's, where a partner plays those systems on its own loans, and the loan core's.
 */
import type { Context } from 'hono';
import { z } from 'zod';
import { loanResource } from '../../contract/loan-resource.ts';
import type { Scope } from '../../contract/statuses.ts';
import { date, text } from '../../contract/values.ts';
import { failDisbursement, settleDisbursement } from '../../core/disbursement.ts';
import type { Asker, Handled, Transactor } from '../../core/handle-loan.ts';
import { concludeIssuance, failIssuance } from '../../core/issuance.ts';
import { handleOnceByKey } from '../../core/nucleus.ts';
import { concludeSigning } from '../../core/signing.ts';
import type { Pool } from '../../db/pool.ts';
import { view } from '../../loan/view.ts';
import type { Env, HttpDeps } from '../deps.ts';
import { handledLoan } from '../handled.ts';
import { keyTaken } from '../keyed.ts';
import type { AddOperation } from '../operation.ts';

/** Whose operations they are: under which path and scope, for one partner or for all, with keys or without. */
interface Door {
  readonly prefix: string;
  readonly scope: Scope;
  readonly idempotencyKey?: 'optional';
}

export const SANDBOX_DOOR: Door = { prefix: '/v1/sandbox', scope: 'sandbox' };
export const CORE_DOOR: Door = { prefix: '/v1/nucleo', scope: 'nucleo', idempotencyKey: 'optional' };

const MAX_REASON_LENGTH = 500;
const DEFAULT_ISSUANCE_REASON = 'Tentativas de emissão esgotadas';
const DEFAULT_DISBURSEMENT_REASON = 'Transferência recusada pelo banco';
const SETTLED_ON = 'Do dia da contratação a hoje, em São Paulo; sem ela, hoje';

const issuanceEnd = z.strictObject({
  resultado: z.enum(['emitida', 'falhou']),
  motivo: text(MAX_REASON_LENGTH).optional(),
});

const transferEnd = z.strictObject({
  resultado: z.enum(['liquidado', 'falhou']),
  motivo: text(MAX_REASON_LENGTH).optional(),
  data_liberacao: date.optional().meta({ description: SETTLED_ON }),
});

const ERRORS = ['ERRO_VALIDACAO', 'NAO_ENCONTRADO', 'TRANSICAO_INVALIDA'] as const;
const KEY_ERRORS = ['IDEMPOTENCIA_EM_ANDAMENTO', 'IDEMPOTENCIA_DIVERGENTE'] as const;

export function addLoanFactRoutes(add: AddOperation, { pool }: HttpDeps, door: Door): void {
  const shared = {
    method: 'post',
    scope: door.scope,
    ...(door.idempotencyKey && { idempotencyKey: door.idempotencyKey }),
    answers: { 200: { description: 'O empréstimo', schema: loanResource } },
    errors: [...ERRORS, ...(door.idempotencyKey ? KEY_ERRORS : [])],
  } as const;
  const path = (fact: string) => `${door.prefix}/emprestimos/{id}/${fact}`;

  add({ ...shared, path: path('assinatura'), summary: 'O provedor interno finaliza o documento' }, async (call, c) =>
    answer(pool, path('assinatura'), call, c, (on, asker) => concludeSigning(on, asker, call.id)),
  );
  add(
    { ...shared, path: path('emissao'), summary: 'A emissão assíncrona termina', body: issuanceEnd },
    async (call, c) => {
      const { resultado, motivo = DEFAULT_ISSUANCE_REASON } = call.body;
      return answer(pool, path('emissao'), call, c, (on, asker) =>
        resultado === 'emitida' ? concludeIssuance(on, asker, call.id) : failIssuance(on, asker, call.id, motivo),
      );
    },
  );
  add(
    { ...shared, path: path('desembolso'), summary: 'A transferência do banco termina', body: transferEnd },
    async (call, c) => {
      const { resultado, motivo = DEFAULT_DISBURSEMENT_REASON, data_liberacao: on } = call.body;
      return answer(pool, path('desembolso'), call, c, (within, asker) =>
        resultado === 'liquidado'
          ? settleDisbursement(within, asker, call.id, on)
          : failDisbursement(within, asker, call.id, motivo),
      );
    },
  );
}

interface FactCall {
  /** Empty for the loan core, which the loan tells whose it is. */
  readonly partnerId: string;
  readonly actor: string;
  readonly requestId: string;
  readonly id: string;
  readonly body?: unknown;
  readonly idempotencyKey: string | null;
}

async function answer(
  pool: Pool,
  operation: string,
  { partnerId, actor, requestId, id, body, idempotencyKey: key }: FactCall,
  c: Context<Env>,
  handle: (within: Transactor, asker: Asker) => Promise<Handled>,
): Promise<Response> {
  const asker: Asker = { partnerId: partnerId === '' ? null : partnerId, actor, requestId };
  if (key === null) return c.json(view(handledLoan(await handle(pool, asker))), 200);
  const keyed = { operation: `POST ${operation}`, key, body: { id, body } };
  const result = await handleOnceByKey(pool, keyed, (within) => handle(within, asker));
  if (typeof result === 'string') throw keyTaken(result);
  if ('refused' in result) return c.json(view(handledLoan(result.refused)), 200);
  return c.json(result.answer.body, 200);
}
