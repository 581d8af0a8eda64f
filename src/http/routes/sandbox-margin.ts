/** In the sandbox, a partner sets the registry's answer to margin queries. */
import { z } from 'zod';
import { marginRequest } from '../../contract/resources/margin-resource.ts';
import { MARGIN_ERROR_KINDS } from '../../contract/statuses.ts';
import { reais, signedReais, text, toCentavos } from '../../contract/values.ts';
import { tellMargin, type ToldMargin } from '../../registry/simulated-margin.ts';
import { answered } from '../answer.ts';
import type { Route } from '../operation.ts';
import { route } from '../route.ts';

const MAX_ERROR_LENGTH = 500;
const AMOUNTS = ['valor_total_vencimentos', 'valor_margem_disponivel'] as const;

/** The amounts, or `falha` with `erro`. */
const body = marginRequest
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

const told = marginRequest.extend({
  valor_total_vencimentos: reais.nullable(),
  valor_margem_disponivel: signedReais.nullable(),
  falha: z.enum(MARGIN_ERROR_KINDS).nullable(),
  erro: z.string().nullable(),
});

export const sandboxMarginRoutes: readonly Route[] = [
  route('PUT /v1/sandbox/margem', 'sandbox', {
    summary: {
      pt: 'O que o registry responde às consultas de margem',
      en: 'What the registry answers to margin queries',
    },
    body,
    bodyDescribed: described,
    bodyExample: {
      cpf: '52998224725',
      numero_inscricao_empregador: '11222333000181',
      valor_total_vencimentos: 6000,
      valor_margem_disponivel: 1234.5,
    },
    answers: answered(200, told, { pt: 'O que o registry vai responder', en: 'What the registry will answer' }),
  })(async ({ partnerId, body: sent }, { pool }) => {
    const worker = { partnerId, workerCpf: sent.cpf, employerCnpj: sent.numero_inscricao_empregador };
    await pool.run((sql) => tellMargin(sql, worker, toTold(sent)));
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
];

/** The schema has checked that the fields which belong together are there. */
function toTold({ falha, erro, ...amounts }: z.output<typeof body>): ToldMargin {
  if (falha !== undefined) return { failure: falha, error: erro ?? '' };
  return {
    earningsCentavos: toCentavos(amounts.valor_total_vencimentos ?? 0),
    marginCentavos: toCentavos(amounts.valor_margem_disponivel ?? 0),
  };
}
