/** The registry, played by the partner: its answer to margin queries, its knowledge of bonds, and its nightly sync. */
import { z } from 'zod';
import { marginRequest } from '../../contract/resources/margin-resource.ts';
import { MARGIN_ERROR_KINDS } from '../../contract/statuses.ts';
import { reais, signedReais, text, toCentavos, id as uuid } from '../../contract/values.ts';
import { reportMargin, type ReportedMargin } from '../../registry/simulated-margin.ts';
import { answered } from '../answer.ts';
import type { Route } from '../operation.ts';
import { route } from '../route.ts';
import { NO_REGISTRY, NOT_FOUND, type Result } from '../../contract/refusals.ts';
import { reportedEndOfBond as endOfBond, reportedRehire as rehire } from '../../contract/resources/nucleus-resource.ts';
import { syncBonds } from '../../core/bonds/bonds.ts';
import { readLoan } from '../../core/loans/read-loan.ts';
import type { LoanState } from '../../loan/state.ts';
import { refuse } from '../../loan/command.ts';
import { reportEndOfBond, reportRehire } from '../../registry/simulated-bonds.ts';
import type { HttpDeps } from '../deps.ts';

const MAX_ERROR_LENGTH = 500;
const AMOUNTS = ['valor_total_vencimentos', 'valor_margem_disponivel'] as const;

/** The amounts, or `falha` with `erro`. */
const marginBody = marginRequest
  .extend({
    valor_total_vencimentos: reais.optional(),
    valor_margem_disponivel: signedReais.optional(),
    falha: z.enum(MARGIN_ERROR_KINDS).optional(),
    erro: text(MAX_ERROR_LENGTH).optional(),
  })
  .superRefine((sent, context) => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message, input: sent });
    const isFailure = sent.falha !== undefined;
    for (const amount of AMOUNTS) {
      if (isFailure && sent[amount] !== undefined) refuse(amount, 'não se usa com falha');
      if (!isFailure && sent[amount] === undefined) refuse(amount, 'é obrigatório sem falha');
    }
    if (isFailure && sent.erro === undefined) refuse('erro', 'é obrigatório com falha');
    if (!isFailure && sent.erro !== undefined) refuse('erro', 'só se usa com falha');
  });

const described = z.xor([
  marginRequest
    .extend({ valor_total_vencimentos: reais, valor_margem_disponivel: signedReais })
    .meta({ id: 'MargemDoRegistry' }),
  marginRequest
    .extend({ falha: z.enum(MARGIN_ERROR_KINDS), erro: text(MAX_ERROR_LENGTH) })
    .meta({ id: 'FalhaDoRegistry' }),
]);

const reported = marginRequest.extend({
  valor_total_vencimentos: reais.nullable(),
  valor_margem_disponivel: signedReais.nullable(),
  falha: z.enum(MARGIN_ERROR_KINDS).nullable(),
  erro: z.string().nullable(),
});

/** The schema has checked that the fields which belong together are there. */
function toReported({ falha, erro, ...amounts }: z.output<typeof marginBody>): ReportedMargin {
  if (falha !== undefined) return { failure: falha, error: erro ?? '' };
  return {
    earningsCentavos: toCentavos(amounts.valor_total_vencimentos ?? 0),
    marginCentavos: toCentavos(amounts.valor_margem_disponivel ?? 0),
  };
}

const errors = ['NAO_ENCONTRADO', 'TRANSICAO_INVALIDA'] as const;

const learnt = <S extends z.ZodRawShape>(shape: S) =>
  answered(201, z.strictObject({ id: uuid, ...shape }), {
    pt: 'O que o registry passou a conhecer',
    en: 'What the registry learnt',
  });

export const sandboxRegistryRoutes: readonly Route[] = [
  route('PUT /v1/sandbox/margem', 'sandbox', {
    summary: {
      pt: 'O que o registry responde às consultas de margem',
      en: 'What the registry answers to margin queries',
    },
    body: marginBody,
    bodyDescribed: described,
    bodyExample: {
      cpf: '52998224725',
      numero_inscricao_empregador: '11222333000181',
      valor_total_vencimentos: 6000,
      valor_margem_disponivel: 1234.5,
    },
    answers: answered(200, reported, { pt: 'O que o registry vai responder', en: 'What the registry will answer' }),
  })(async ({ partnerId, body: sent }, { pool }) => {
    const worker = { partnerId, workerCpf: sent.cpf, employerCnpj: sent.numero_inscricao_empregador };
    await pool.run((sql) => reportMargin(sql, worker, toReported(sent)));
    const answer = {
      cpf: sent.cpf,
      numero_inscricao_empregador: sent.numero_inscricao_empregador,
      valor_total_vencimentos: sent.valor_total_vencimentos ?? null,
      valor_margem_disponivel: sent.valor_margem_disponivel ?? null,
      falha: sent.falha ?? null,
      erro: sent.erro ?? null,
    };
    return { status: 200, body: answer };
  }),
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
    const id = await pool.run((sql) => reportEndOfBond(sql, { partnerId, loanId: loan.ok.id }, data));
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
    const id = await pool.run((sql) => reportRehire(sql, { partnerId, loanId: loan.ok.id }, data));
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
