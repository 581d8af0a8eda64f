/** Loans, registrations and bonds as the lender's own core tells them. */
import { z } from 'zod';
import { LOAN_EXAMPLE } from '../../contract/resources/loan-example.ts';
import * as told from '../../contract/resources/nucleus-resource.ts';
import type { Refused } from '../../contract/refusals.ts';
import { id, toCentavos } from '../../contract/values.ts';
import { tellBond } from '../../core/bonds/bond-detection.ts';
import { issueLoan } from '../../core/loans/create-loan.ts';
import type { Asker, Transactor } from '../../core/loans/handle-loan.ts';
import { onceForLender, tellOfPartner } from '../../core/loans/nucleus.ts';
import { recordRegistration, tellRegistrationAsked } from '../../core/loans/registration.ts';
import { RegistryFailure } from '../../registry/port.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { answerFact, CORE_DOOR, factOf } from './loan-facts.ts';
import { ISSUED } from './loans.ts';

const FACT = factOf(CORE_DOOR);
const LOANS = `${CORE_DOOR.prefix}/emprestimos` as const;

export function addNucleusLoanRoutes(add: AddOperation, deps: HttpDeps): void {
  addCreation(add, deps);
  addRegistration(add, deps);
  addBonds(add, deps);
}

function addCreation(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      ...FACT,
      path: LOANS,
      summary: {
        pt: 'Emite um empréstimo de um parceiro, como a conta dele diz',
        en: "Issues a partner's loan, as its account says",
      },
      body: told.loanForPartner,
      bodyExample: { parceiro_id: '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b', ...LOAN_EXAMPLE },
      answers: ISSUED,
    },
    async (call) => {
      const { parceiro_id: _, ...request } = call.body;
      const created = await tellOfPartner(pool, LOANS, call, (within, provenance) =>
        within.transaction((tx) => issueLoan(tx, provenance, request)),
      );
      if ('refused' in created) return created;
      const { status, body } = created;
      return { status, body, headers: { Location: `${LOANS}/${body.id}` } };
    },
  );
}

function addRegistration(add: AddOperation, { pool, documentsDeadlineDays }: HttpDeps): void {
  const path = `${LOANS}/{id}/averbacao`;
  add(
    {
      ...FACT,
      path,
      summary: {
        pt: 'O núcleo pediu a averbação ao registry, ou o registry respondeu à que está em processamento',
        en: 'The core asked the registry for the registration, or the registry answered the one under way',
      },
      body: told.toldRegistration,
    },
    async (call) =>
      answerFact(pool, path, call, (within, asker) => {
        const { body, id: loanId } = call;
        if (body.resultado === 'solicitada') return tellRegistrationAsked(within, asker, loanId);
        const answer =
          body.resultado === 'concluida'
            ? ({ outcome: 'concluded', protocol: body.protocolo_registry } as const)
            : ({ outcome: 'failed', error: body.erro } as const);
        const end = { loanId, registrationId: null, answer, documentsDeadlineDays };
        return recordRegistration(within, asker, end).catch(refuseProtocol);
      }),
  );
}

function refuseProtocol(error: unknown): Refused<'misfit'> {
  if (!(error instanceof RegistryFailure)) throw error;
  const details = [{ campo: 'protocolo_registry', mensagem: 'é o de outra averbação' }];
  return { refused: { kind: 'misfit', what: 'o protocolo não é desta averbação', details } };
}

function addBonds(add: AddOperation, { pool }: HttpDeps): void {
  const answerOf = <S extends z.ZodRawShape>(shape: S) => ({
    201: {
      description: { pt: 'O registro, com o evento já emitido', en: 'The record, whose event was emitted' },
      schema: z.strictObject({ id, ...shape }),
    },
  });
  const ended = `${CORE_DOOR.prefix}/vinculos/desligamentos`;
  const summary = {
    pt: 'O trabalhador foi desligado: o empréstimo encerra',
    en: "The worker's bond ended: the loan closes",
  };
  add(
    { ...FACT, path: ended, summary, body: told.toldEndOfBond, answers: answerOf(told.toldEndOfBond.shape) },
    (call) =>
      answerBond(pool, ended, call, (within, asker) => {
        const { emprestimo_id: loanId, data_desligamento: on, motivo_desligamento: reason } = call.body;
        return tellBond(within, asker, loanId, { kind: 'ended', data: { on, reason } });
      }),
  );

  const rehired = `${CORE_DOOR.prefix}/vinculos/novos`;
  const about = {
    pt: 'O trabalhador de um empréstimo encerrado tem um novo vínculo',
    en: 'The worker of a closed loan was hired again',
  };
  add(
    { ...FACT, path: rehired, summary: about, body: told.toldRehire, answers: answerOf(told.toldRehire.shape) },
    (call) =>
      answerBond(pool, rehired, call, (within, asker) => {
        const { emprestimo_id: loanId, data_admissao: on, novo_empregador: employer, margem_disponivel } = call.body;
        const availableMarginCentavos = toCentavos(margem_disponivel);
        return tellBond(within, asker, loanId, { kind: 'new', data: { on, employer, availableMarginCentavos } });
      }),
  );
}

async function answerBond<B extends { readonly emprestimo_id: string }>(
  pool: HttpDeps['pool'],
  path: string,
  call: {
    readonly actor: string;
    readonly requestId: string;
    readonly idempotencyKey: string | null;
    readonly body: B;
  },
  tell: (within: Transactor, asker: Asker) => ReturnType<typeof tellBond>,
) {
  const { actor, requestId, idempotencyKey: key, body } = call;
  return onceForLender(pool, { operation: `POST ${path}`, key, body }, async (within) => {
    const recordId = await tell(within, { partnerId: null, actor, requestId });
    if ('refused' in recordId) return recordId;
    return { ok: { status: 201, location: null, body: { id: recordId.ok, ...body } } as const };
  });
}
