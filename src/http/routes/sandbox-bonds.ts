/** The registry's knowledge of bonds, and its nightly sync, played by the partner. */
import { z } from 'zod';
import { NO_REGISTRY, NOT_FOUND, type Result } from '../../contract/refusals.ts';
import { toldEndOfBond as endOfBond, toldRehire as rehire } from '../../contract/resources/nucleus-resource.ts';
import { id as uuid, toCentavos } from '../../contract/values.ts';
import { syncBonds } from '../../core/bonds/bonds.ts';
import { readLoan } from '../../core/loans/read-loan.ts';
import type { LoanState } from '../../loan/state.ts';
import { refuse } from '../../loan/command.ts';
import { tellEndOfBond, tellRehire } from '../../registry/simulated-bonds.ts';
import type { HttpDeps } from '../deps.ts';
import { answered } from '../answer.ts';
import type { Route } from '../operation.ts';
import { route } from '../route.ts';

const errors = ['NAO_ENCONTRADO', 'TRANSICAO_INVALIDA'] as const;

const learnt = <S extends z.ZodRawShape>(shape: S) =>
  answered(201, z.strictObject({ id: uuid, ...shape }), {
    pt: 'O que o registry passou a conhecer',
    en: 'What the registry learnt',
  });

export const sandboxBondRoutes: readonly Route[] = [
  route('POST /v1/sandbox/vinculos/desligamentos', 'sandbox', {
    summary: {
      pt: 'O registry passa a conhecer um desligamento; a próxima sincronização o detecta',
      en: 'The registry learns of an end of bond; the next sync detects it',
    },
    body: endOfBond,
    answers: learnt(endOfBond.shape),
    errors,
  })(async ({ partnerId, body }, { pool }) => {
    const loan = await loanThatMayTake(pool, partnerId, body.emprestimo_id, ['cancelada', 'encerrada_desligamento']);
    if ('refused' in loan) return loan;
    const data = { on: body.data_desligamento, reason: body.motivo_desligamento };
    const id = await pool.run((sql) => tellEndOfBond(sql, { partnerId, loanId: loan.ok.id }, data));
    return { status: 201, body: { id, ...body } };
  }),
  route('POST /v1/sandbox/vinculos/novos', 'sandbox', {
    summary: {
      pt: 'O registry passa a conhecer um novo vínculo; é detectado quando o empréstimo está encerrado',
      en: 'The registry learns of a rehire; it is detected when the loan is closed',
    },
    body: rehire,
    answers: learnt(rehire.shape),
    errors,
  })(async ({ partnerId, body }, { pool }) => {
    const loan = await loanThatMayTake(pool, partnerId, body.emprestimo_id, ['cancelada']);
    if ('refused' in loan) return loan;
    const data = {
      on: body.data_admissao,
      employer: body.novo_empregador,
      availableMarginCentavos: toCentavos(body.margem_disponivel),
    };
    const id = await pool.run((sql) => tellRehire(sql, { partnerId, loanId: loan.ok.id }, data));
    return { status: 201, body: { id, ...body } };
  }),
  route('POST /v1/sandbox/sincronizacao', 'sandbox', {
    summary: { pt: 'A sincronização noturna roda agora', en: 'The nightly sync runs now' },
    answers: answered(200, z.strictObject({ desligamentos: z.int(), novos: z.int() }), {
      pt: 'Quantos registros foram detectados pela primeira vez',
      en: 'How many records were detected for the first time',
    }),
  })(async ({ partnerId, actor, requestId }, { pool, log, registry }) => {
    if (registry === null) return NO_REGISTRY;
    const counts = await syncBonds({ pool, registry, log }, { partnerId, actor, requestId });
    return { status: 200, body: { desligamentos: counts.ended, novos: counts.new } };
  }),
];

/** The loan; refused in the statuses `never` to be left, in which the record would wait in vain. */
async function loanThatMayTake(
  pool: HttpDeps['pool'],
  partnerId: string,
  loanId: string,
  never: readonly LoanState['status'][],
): Promise<Result<LoanState, 'notFound' | 'loanState'>> {
  const loan = await readLoan(pool, partnerId, loanId);
  if (loan === null) return NOT_FOUND;
  return never.includes(loan.status) ? refuse(loan, 'O vínculo não mudaria nada') : { ok: loan };
}
