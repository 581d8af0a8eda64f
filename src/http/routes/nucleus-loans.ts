/** Loans, registrations and bonds, as the lender's own core reports them. */
import { z } from 'zod';
import { LOAN_EXAMPLE } from '../../contract/resources/loan-example.ts';
import * as resources from '../../contract/resources/nucleus-resource.ts';
import type { Refused } from '../../contract/refusals.ts';
import { id, toCentavos } from '../../contract/values.ts';
import { reportBond } from '../../core/bonds/bond-detection.ts';
import { issueLoan, refuseTaken } from '../../core/loans/create-loan.ts';
import type { Asker, Transactor } from '../../core/loans/handle-loan.ts';
import { type LenderCall, onceForLender, reportOfPartner } from '../../core/loans/nucleus.ts';
import { recordRegistration, appendRegistrationRequested } from '../../core/loans/registration.ts';
import { RegistryFailure } from '../../registry/port.ts';
import type { Pool } from '../../db/pool.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';
import { answerFact, CORE_DOOR, factOf } from './loan-facts.ts';
import { ISSUED } from './loans.ts';

const FACT = factOf(CORE_DOOR);
const LOANS = `${CORE_DOOR.prefix}/emprestimos` as const;

const recorded = <S extends z.ZodRawShape>(shape: S) =>
  answered(201, z.strictObject({ id, ...shape }), {
    pt: 'O registro, com o evento já emitido',
    en: 'The record, whose event was emitted',
  });

export const nucleusLoanRoutes: Routes = [
  route(`POST ${LOANS}`, 'nucleo', {
    since: '0.3',
    ...FACT,
    summary: {
      pt: 'Emite um empréstimo de um parceiro, como a conta dele diz',
      en: "Issues a partner's loan, as its account says",
    },
    body: resources.loanForPartner,
    bodyExample: { parceiro_id: '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b', ...LOAN_EXAMPLE },
    answers: ISSUED,
  })(async (call, { pool }) => {
    const { parceiro_id: _, id: ownId, numero, ...request } = call.body;
    const created = await reportOfPartner(pool, call, (within, provenance) =>
      within.transaction(async (tx) => {
        const own = { id: ownId, numero };
        return (await refuseTaken(tx, provenance.partnerId, own)) ?? issueLoan(tx, provenance, request, own);
      }),
    );
    if ('refused' in created) return created;
    const { status, body } = created;
    return { status, body, headers: { Location: `${LOANS}/${body.id}` } };
  }),
  route(`POST ${LOANS}/{id}/averbacao`, 'nucleo', {
    since: '0.3',
    ...FACT,
    summary: {
      pt: 'O núcleo pediu a averbação ao registry, ou o registry respondeu à que está em processamento',
      en: 'The core asked the registry for the registration, or the registry answered the one under way',
    },
    body: resources.reportedRegistration,
  })(async (call, { pool, documentsDeadlineDays }) =>
    answerFact(pool, call, (within, asker) => {
      const { body, id: loanId } = call;
      if (body.resultado === 'solicitada') return appendRegistrationRequested(within, asker, loanId, body.averbacao_id);
      const answer =
        body.resultado === 'concluida'
          ? ({ outcome: 'concluded', protocol: body.protocolo_registry } as const)
          : ({ outcome: 'failed', error: body.erro } as const);
      const end = { loanId, registrationId: body.averbacao_id ?? null, answer, documentsDeadlineDays };
      return recordRegistration(within, asker, end).catch(refuseProtocol);
    }),
  ),
  route('POST /v1/nucleo/vinculos/desligamentos', 'nucleo', {
    since: '0.3',
    ...FACT,
    summary: {
      pt: 'O trabalhador foi desligado: o empréstimo encerra',
      en: "The worker's bond ended: the loan closes",
    },
    body: resources.reportedEndOfBond,
    answers: recorded(resources.reportedEndOfBond.shape),
  })((call, { pool }) =>
    answerBond(pool, call, (within, asker) => {
      const { emprestimo_id: loanId, data_desligamento: on, motivo_desligamento: reason } = call.body;
      return reportBond(within, asker, loanId, { kind: 'ended', data: { on, reason } });
    }),
  ),
  route('POST /v1/nucleo/vinculos/novos', 'nucleo', {
    since: '0.3',
    ...FACT,
    summary: {
      pt: 'O trabalhador de um empréstimo encerrado tem um novo vínculo',
      en: 'The worker of a closed loan was hired again',
    },
    body: resources.reportedRehire,
    answers: recorded(resources.reportedRehire.shape),
  })((call, { pool }) =>
    answerBond(pool, call, (within, asker) => {
      const { emprestimo_id: loanId, data_admissao: on, novo_empregador: employer, margem_disponivel } = call.body;
      const availableMarginCentavos = toCentavos(margem_disponivel);
      return reportBond(within, asker, loanId, { kind: 'new', data: { on, employer, availableMarginCentavos } });
    }),
  ),
];

function refuseProtocol(error: unknown): Refused<'mismatch'> {
  if (!(error instanceof RegistryFailure)) throw error;
  const details = [{ campo: 'protocolo_registry', mensagem: 'é o de outra averbação' }];
  return { refused: { kind: 'mismatch', what: 'o protocolo não é desta averbação', details } };
}

async function answerBond<B extends { readonly emprestimo_id: string }>(
  pool: Pool,
  call: LenderCall<B>,
  report: (within: Transactor, asker: Asker) => ReturnType<typeof reportBond>,
) {
  const { actor, requestId, body } = call;
  return onceForLender(pool, call, async (within) => {
    const recordId = await report(within, { partnerId: null, actor, requestId });
    if ('refused' in recordId) return recordId;
    return { ok: { status: 201, body: { id: recordId.ok, ...body } } as const };
  });
}
