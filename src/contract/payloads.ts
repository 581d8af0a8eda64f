/** The `data` of each event. Parsing with a schema puts the keys in the order of the envelope's bytes. */
import { z } from 'zod';
import {
  AUTHORIZATION_ORIGINS,
  CLOSED_FOR_END_OF_BOND,
  DOCUMENT_MODES,
  DOCUMENT_TYPES,
  MARGIN_ERROR_KINDS,
  OUTCOMES,
  SIGNING_MODES,
} from './statuses.ts';
import { FIELD_MEANINGS } from './field-meanings.ts';
import { cnpj, cpf } from './tax-ids.ts';
import {
  amount,
  date,
  id,
  MAX_INSTALLMENTS,
  month,
  positiveReais,
  shown,
  signedAmount,
  text,
  timestamp,
} from './values.ts';

/** An object of these fields, each with its meaning beside what its own schema says. */
function payload<S extends Readonly<Partial<Record<keyof typeof FIELD_MEANINGS, z.ZodType>>>>(shape: S) {
  const fields = Object.entries(shape as Readonly<Record<string, z.ZodType>>).map(([name, schema]) => {
    const { pt, en } = FIELD_MEANINGS[name as keyof typeof FIELD_MEANINGS];
    const own = schema.meta()?.text;
    return [
      name,
      schema.meta({ text: own === undefined ? { pt, en } : { pt: `${pt}. ${own.pt}`, en: `${en}. ${own.en}` } }),
    ];
  });
  return z.strictObject(Object.fromEntries(fields) as S);
}

const codeAndDescription = payload({ codigo: text(60), descricao: text(200) }).meta({ id: 'CodigoEDescricao' });

export const authorizationConfirmed = payload({
  autorizacao_id: id,
  cpf_trabalhador: cpf,
  status: z.literal('confirmada'),
  origem: z.enum(AUTHORIZATION_ORIGINS),
});

export const marginConcluded = payload({
  cpf_trabalhador: cpf,
  cnpj_empregador: cnpj,
  consulta_margem_id: id,
  salario_bruto: amount,
  margem_disponivel: signedAmount,
  margem_percentual: z.number().nullable(),
});

export const marginFailed = payload({
  cpf_trabalhador: cpf,
  cnpj_empregador: cnpj,
  tipo_erro: z.enum(MARGIN_ERROR_KINDS),
  erro: z.string(),
});

export const loanIssued = payload({ emprestimo_id: id, numero: text(60), valor_liberado: amount });

export const issuanceFailed = payload({ emprestimo_id: id, motivo: z.string() });

export const signingConcluded = payload({ emprestimo_id: id, tipo_assinatura: z.enum(SIGNING_MODES) });

export const signingPending = payload({
  emprestimo_id: id,
  numero_emprestimo: z.string(),
  ccb_assinada_recebida: z.boolean(),
});

export const documentsPending = payload({ emprestimo_id: id, numero_emprestimo: z.string(), prazo: date });

export const documentsReceived = payload({ emprestimo_id: id, numero_emprestimo: z.string() });

export const registrationConcluded = payload({
  emprestimo_id: id,
  averbacao_id: id,
  protocolo_registry: z.string(),
});

export const registrationFailed = payload({ emprestimo_id: id, averbacao_id: id, erro: z.string() });

export const disbursementSettled = payload({
  emprestimo_id: id,
  numero_emprestimo: z.string(),
  valor_liberado: amount,
  data_liberacao: date,
});

export const disbursementFailed = payload({
  emprestimo_id: id,
  numero_emprestimo: z.string(),
  motivo: z.string(),
});

export const bondEnded = payload({
  emprestimo_id: id,
  numero_emprestimo: z.string(),
  cpf_trabalhador: cpf,
  matricula: z.string(),
  nome_trabalhador: z.string(),
  data_desligamento: date,
  motivo_desligamento: codeAndDescription,
  situacao_emprestimo: payload({
    codigo: text(60).meta({ examples: [CLOSED_FOR_END_OF_BOND.codigo] }),
    descricao: text(200).meta({ examples: [CLOSED_FOR_END_OF_BOND.descricao] }),
  }),
});

export const newBond = payload({
  cpf_trabalhador: cpf,
  nome_trabalhador: z.string(),
  novo_empregador: payload({ cnpj, nome: text(200) }),
  data_admissao: date,
  margem_disponivel: signedAmount,
  emprestimo_id: id,
  saldo_pendente: amount,
  averbavel: z.boolean(),
});

export const settlementProcessed = payload({
  repasse_id: id,
  competencia: month,
  total_parcelas: z.int().min(0),
  numero_ccbs: z.int().min(0),
  valor_total: amount,
  fechado_em: timestamp,
});

/** Which webhook fails. Of its URL no more than the host: the rest may hold a token. */
const failing = {
  webhook_id: id,
  parceiro_id: id,
  host: z.string(),
  primeira_falha_em: timestamp,
  falhando_desde: timestamp,
  falhas: z.int().min(1),
  ultimo_resultado: z.enum(OUTCOMES).meta({ examples: ['resposta_nao_2xx'] }),
  ultimo_status_http: shown(z.int(), 503).nullable(),
} as const;

/** Notice: `suspende_em` is null where nothing is suspended. */
export const webhookFailing = payload({
  ...failing,
  suspende_em: timestamp.nullable(),
  o_que_fazer: z.string(),
});

export const webhookSuspended = payload({ ...failing, suspenso_em: timestamp, o_que_fazer: z.string() });

/** Notice: deliveries of another webhook whose fourth attempt failed, or that ended in `erro`. */
export const webhookLosing = payload({
  webhook_id: id,
  host: z.string(),
  desde: timestamp,
  entregas: z.int().min(1),
  primeira_entrega_id: id,
  ultimo_resultado: z.enum(OUTCOMES).meta({ examples: ['resposta_nao_2xx'] }),
  ultimo_status_http: shown(z.int(), 503).nullable(),
});

/** Internal: the terms of a loan as it was contracted; `numero` is provisional on the asynchronous path. */
export const loanContracted = z.strictObject({
  emprestimo_id: id,
  numero: text(60),
  cpf_trabalhador: cpf,
  nome_trabalhador: text(200),
  matricula: text(60),
  cnpj_empregador: cnpj,
  tipo_assinatura: z.enum(SIGNING_MODES),
  entrega_documentos: z.enum(DOCUMENT_MODES),
  valor_liberado: positiveReais,
  numero_parcelas: z.int().min(1).max(MAX_INSTALLMENTS),
  valor_parcela: positiveReais,
  consulta_margem_id: id.nullable(),
});

/** Internal: one registration was asked of the registry. */
export const registrationRequested = z.strictObject({ emprestimo_id: id, averbacao_id: id });

/** Internal: one document piece was archived; its bytes are never in the log. */
export const documentReceived = z.strictObject({
  emprestimo_id: id,
  tipo: z.enum(DOCUMENT_TYPES),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
