/** What the loan core tells and reads over HTTP (`/v1/nucleo`). */
import { z } from 'zod';
import { hasNoCpf, NO_CPF } from '../masking/cpf.ts';
import { DOCUMENT_MODES, ISSUANCE_MODES, MARGIN_ERROR_KINDS, SIGNING_MODES } from '../statuses.ts';
import { component, id, reais, signedReais, text, timestamp } from '../values.ts';
import { bondEnded, loanIssued, newBond, settlementProcessed } from '../payloads.ts';
import { deliveryWithAttempts } from './delivery-resource.ts';
import { createLoan } from './loan-resource.ts';
import { marginRequest } from './margin-resource.ts';

const MAX_ERROR_LENGTH = 500;
const MAX_NAME_LENGTH = 200;

const partner = {
  parceiro_id: id.meta({
    text: { pt: 'O parceiro, que recebe o evento', en: 'The partner, which receives the event' },
  }),
};

/** An id that the core has already; without it the service makes one. */
const ownId = id.optional().meta({
  text: { pt: 'O id que o núcleo já usa; sem ele, um novo', en: 'The id that the core has; without it, a new one' },
  'x-since': '0.4',
});
/** A loan's number as the core counts them. */
export const ownNumber = loanIssued.shape.numero.optional().meta({
  text: {
    pt: 'O número do núcleo; sem ele, o próximo da série',
    en: "The core's number; without it, the next of the series",
  },
  'x-since': '0.4',
});

const account = {
  nome: text(MAX_NAME_LENGTH)
    .refine(hasNoCpf, NO_CPF)
    .meta({ examples: ['Parceiro Um'] }),
  assinatura: z.enum(SIGNING_MODES),
  documentos: z.enum(DOCUMENT_MODES),
  emissao: z.enum(ISSUANCE_MODES),
};
export const newPartner = z.strictObject({ id: ownId, ...account });
/** What a partner of the sandbox changes of its own account; what is left out stays. */
export const sandboxAccount = z.strictObject(account).omit({ nome: true }).partial();
export const partnerChange = z
  .strictObject(account)
  .partial()
  .refine((change) => Object.values(change).some((value) => value !== undefined), 'deve ter ao menos um campo')
  .meta({ minProperties: 1 });
export const partnerAccount = component('ContaDoParceiro', {
  id,
  ...account,
  ativo: z.boolean(),
  criado_em: timestamp,
});

export const loanForPartner = createLoan.extend({ ...partner, id: ownId, numero: ownNumber });

export const reportedMargin = z.discriminatedUnion('resultado', [
  component('MargemConsultada', {
    ...partner,
    consulta_margem_id: ownId,
    ...marginRequest.shape,
    resultado: z.literal('concluida'),
    valor_total_vencimentos: reais,
    valor_margem_disponivel: signedReais,
  }),
  component('ConsultaQueFalhou', {
    ...partner,
    consulta_margem_id: ownId,
    ...marginRequest.shape,
    resultado: z.literal('falhou'),
    tipo_erro: z.enum(MARGIN_ERROR_KINDS),
    erro: text(MAX_ERROR_LENGTH),
  }),
]);

const whichRegistration = id.optional().meta({
  text: { pt: 'Qual; sem ele, a que está em processamento', en: 'Which; without it, the one under way' },
  'x-since': '0.4',
});

export const reportedRegistration = z.discriminatedUnion('resultado', [
  component('AverbacaoSolicitada', { resultado: z.literal('solicitada'), averbacao_id: ownId }),
  component('AverbacaoConcluida', {
    resultado: z.literal('concluida'),
    averbacao_id: whichRegistration,
    protocolo_registry: text(200),
  }),
  component('AverbacaoQueFalhou', {
    resultado: z.literal('falhou'),
    averbacao_id: whichRegistration,
    erro: text(MAX_ERROR_LENGTH),
  }),
]);

/** The registry's record of an end of bond, and of a rehire, as the sandbox's routes have them too. */
export const reportedEndOfBond = z.strictObject({
  emprestimo_id: id,
  data_desligamento: bondEnded.shape.data_desligamento,
  motivo_desligamento: bondEnded.shape.motivo_desligamento,
});
export const reportedRehire = z.strictObject({
  emprestimo_id: id,
  novo_empregador: newBond.shape.novo_empregador,
  data_admissao: newBond.shape.data_admissao,
  margem_disponivel: signedReais,
});

const MAX_COUNT = 1_000_000_000;
const { competencia, total_parcelas, numero_ccbs, valor_total } = settlementProcessed.shape;
const totals = z.strictObject({
  total_parcelas: total_parcelas.max(MAX_COUNT).meta({ 'x-since': '0.4' }),
  numero_ccbs: numero_ccbs.max(MAX_COUNT).meta({ 'x-since': '0.4' }),
  valor_total: valor_total.meta({ 'x-since': '0.4' }),
});
export type SettlementTotals = z.infer<typeof totals>;
const TOTALS = Object.keys(totals.shape);

/** The totals are the core's own, all or none; without them the installments that are known here are counted. */
export const monthOfPartner = z
  .strictObject({ ...partner, competencia, ...totals.partial().shape })
  .superRefine((body, context) => {
    const missing = TOTALS.filter((name) => body[name as keyof SettlementTotals] === undefined);
    if (missing.length === TOTALS.length) return;
    for (const path of missing)
      context.addIssue({ code: 'custom', path: [path], message: 'os três totais vêm juntos ou nenhum vem' });
  })
  .meta({
    dependentRequired: Object.fromEntries(TOTALS.map((name) => [name, TOTALS.filter((other) => other !== name)])),
  });

/** `ja_fechado`: the batch existed, nothing changed and no event was emitted. */
export const closedMonth = settlementProcessed.extend({ ja_fechado: z.boolean() });

/** Any event of the log: `emprestimo_id` where the stream is a loan's, and no deliveries where it is internal. */
export const coreEvent = component('FatoDoRegistro', {
  evento_id: id,
  evento: z.string(),
  fluxo: id,
  versao: z.int(),
  /** It came in with history: without deliveries. */
  importado: z.boolean(),
  familia: z.string(),
  parceiro_id: id,
  ocorrido_em: timestamp,
  autor: z.string(),
  requisicao_id: z.string().nullable(),
  emprestimo_id: id.nullable(),
  versao_emprestimo: z.int().nullable(),
  data: z.record(z.string(), z.unknown()),
  entregas: z.array(deliveryWithAttempts),
});
export type CoreEvent = z.infer<typeof coreEvent>;

const CATALOG_KINDS = ['emitido', 'interno', 'aviso', 'reservado'] as const;

const catalogEntry = component('ItemDoCatalogo', {
  evento: z.string(),
  /** `emitido` and `interno` may be appended. */
  tipo: z.enum(CATALOG_KINDS),
  familias: z.array(z.string()),
  /** JSON Schema of `data`; null for a reserved name. */
  payload: z.record(z.string(), z.unknown()).nullable(),
});
export type CatalogEntry = z.infer<typeof catalogEntry>;

export const catalog = z.strictObject({ itens: z.array(catalogEntry) });
