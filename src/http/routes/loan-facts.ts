/** A loan's facts from the lender's systems, by two doors: the sandbox's (a partner's own loans), and the loan core's. */
import { z } from 'zod';
import { loanResource } from '../../contract/resources/loan-resource.ts';
import { ownNumber } from '../../contract/resources/nucleus-resource.ts';
import type { Scope } from '../../contract/statuses.ts';
import { date, text } from '../../contract/values.ts';
import type { Asker, Handled, Transactor } from '../../core/loans/handle-loan.ts';
import { type LenderCall, onceForLender } from '../../core/loans/nucleus.ts';
import {
  concludeIssuance,
  concludeSigning,
  failDisbursement,
  failIssuance,
  settleDisbursement,
} from '../../core/loans/steps.ts';
import type { Pool } from '../../db/pool.ts';
import { view } from '../../loan/view.ts';
import { answered } from '../answer.ts';
import type { Caller, Route } from '../operation.ts';
import { KEY_ERRORS, route } from '../route.ts';

/** Whose operations they are: under which path and scope, for one partner or for all, with keys or without. */
interface Door {
  readonly prefix: '/v1/sandbox' | '/v1/nucleo';
  readonly scope: Extract<Scope, 'sandbox' | 'nucleo'>;
  readonly idempotencyKey?: 'optional';
  /** How many months back a transfer may be dated; null: to the loan's creation. */
  readonly monthsBack: number | null;
}

export const SANDBOX_DOOR: Door = { prefix: '/v1/sandbox', scope: 'sandbox', monthsBack: 24 };
export const CORE_DOOR: Door = { prefix: '/v1/nucleo', scope: 'nucleo', idempotencyKey: 'optional', monthsBack: null };

const MAX_REASON_LENGTH = 500;
const DEFAULT_ISSUANCE_REASON = 'Tentativas de emissão esgotadas';
const DEFAULT_DISBURSEMENT_REASON = 'Transferência recusada pelo banco';
const settledOn = ({ monthsBack }: Door) =>
  monthsBack === null
    ? {
        pt: 'Do dia da contratação a hoje, em São Paulo; sem ela, hoje',
        en: "From the day of the loan's creation to today, in São Paulo; without it, today",
      }
    : {
        pt: `De até ${monthsBack} meses atrás a hoje, em São Paulo; sem ela, hoje`,
        en: `From up to ${monthsBack} months ago to today, in São Paulo; without it, today`,
      };

const issuanceEnd = z.strictObject({
  resultado: z.enum(['emitida', 'falhou']),
  motivo: text(MAX_REASON_LENGTH).optional(),
});
/** The lender's core may count its loans itself. */
const numberedEnd = issuanceEnd.extend({ numero: ownNumber });

const transferEnd = (door: Door) =>
  z.strictObject({
    resultado: z.enum(['liquidado', 'falhou']),
    motivo: text(MAX_REASON_LENGTH).optional(),
    data_liberacao: date.optional().meta({ text: settledOn(door) }),
  });

const ERRORS = ['NAO_ENCONTRADO', 'TRANSICAO_INVALIDA'] as const;

/** What the operations of a door have in common: each answers the loan. */
export function factOf(door: Door) {
  return {
    ...(door.idempotencyKey && { idempotencyKey: door.idempotencyKey }),
    answers: answered(200, loanResource, { pt: 'O empréstimo', en: 'The loan' }),
    errors: [...ERRORS, ...(door.idempotencyKey ? KEY_ERRORS : [])],
  } as const;
}

export function loanFactRoutes(door: Door): readonly Route[] {
  const shared = factOf(door);
  const path = `POST ${door.prefix}/emprestimos/{id}` as const;
  return [
    route(`${path}/assinatura`, door.scope, {
      ...shared,
      summary: { pt: 'O provedor interno finaliza o documento', en: 'The internal provider finalises the document' },
    })(async (call, { pool }) => answerFact(pool, call, (on, asker) => concludeSigning(on, asker, call.id))),
    route(`${path}/emissao`, door.scope, {
      ...shared,
      summary: { pt: 'A emissão assíncrona termina', en: 'The asynchronous issuance ends' },
      body: door.scope === 'nucleo' ? numberedEnd : (issuanceEnd as typeof numberedEnd),
    })(async (call, { pool }) => {
      const { resultado, motivo = DEFAULT_ISSUANCE_REASON, numero } = call.body;
      return answerFact(pool, call, (on, asker) =>
        resultado === 'emitida'
          ? concludeIssuance(on, asker, call.id, numero)
          : failIssuance(on, asker, call.id, motivo),
      );
    }),
    route(`${path}/desembolso`, door.scope, {
      ...shared,
      summary: { pt: 'A transferência do banco termina', en: "The bank's transfer ends" },
      body: transferEnd(door),
    })(async (call, { pool }) => {
      const { resultado, motivo = DEFAULT_DISBURSEMENT_REASON, data_liberacao: on } = call.body;
      return answerFact(pool, call, (within, asker) =>
        resultado === 'liquidado'
          ? settleDisbursement(within, asker, call.id, on, door.monthsBack)
          : failDisbursement(within, asker, call.id, motivo),
      );
    }),
  ];
}

type FactCall = Exclude<Caller, { readonly by: 'auditor' }> & LenderCall & { readonly id: string };

/** Handles the fact, once for its key, and answers the loan. */
export async function answerFact(
  pool: Pool,
  call: FactCall,
  handle: (within: Transactor, asker: Asker) => Promise<Handled>,
) {
  const { actor, requestId, id, body } = call;
  // The loan tells the loan core whose it is.
  const asker: Asker = { partnerId: call.by === 'partner' ? call.partnerId : null, actor, requestId };
  return onceForLender(pool, { ...call, body: { id, body } }, async (within) => {
    const handled = await handle(within, asker);
    if ('refused' in handled) return handled;
    return { ok: { status: 200, body: view(handled.ok) } as const };
  });
}
