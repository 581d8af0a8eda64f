/** What the loan core tells and reads over HTTP (`/v1/nucleo`). */
import { z } from 'zod';
import { MARGIN_ERROR_KINDS } from '../statuses.ts';
import { component, id, reais, signedReais, text, timestamp } from '../values.ts';
import { bondEnded, newBond, settlementProcessed } from '../payloads.ts';
import { deliveryWithAttempts } from './delivery-resource.ts';
import { createLoan } from './loan-resource.ts';
import { marginRequest } from './margin-resource.ts';

const MAX_ERROR_LENGTH = 500;

const partner = {
  parceiro_id: id.meta({
    text: { pt: 'O parceiro, que recebe o evento', en: 'The partner, which receives the event' },
  }),
};

export const loanForPartner = createLoan.extend(partner);

export const toldMargin = z.discriminatedUnion('resultado', [
  component('MargemConsultada', {
    ...partner,
    ...marginRequest.shape,
    resultado: z.literal('concluida'),
    valor_total_vencimentos: reais,
    valor_margem_disponivel: signedReais,
  }),
  component('ConsultaQueFalhou', {
    ...partner,
    ...marginRequest.shape,
    resultado: z.literal('falhou'),
    tipo_erro: z.enum(MARGIN_ERROR_KINDS),
    erro: text(MAX_ERROR_LENGTH),
  }),
]);

export const toldRegistration = z.discriminatedUnion('resultado', [
  component('AverbacaoSolicitada', { resultado: z.literal('solicitada') }),
  component('AverbacaoConcluida', { resultado: z.literal('concluida'), protocolo_registry: text(200) }),
  component('AverbacaoQueFalhou', { resultado: z.literal('falhou'), erro: text(MAX_ERROR_LENGTH) }),
]);

/** The registry's record of an end of bond, and of a rehire, as the sandbox's routes have them too. */
export const toldEndOfBond = z.strictObject({
  emprestimo_id: id,
  data_desligamento: bondEnded.shape.data_desligamento,
  motivo_desligamento: bondEnded.shape.motivo_desligamento,
});
export const toldRehire = z.strictObject({
  emprestimo_id: id,
  novo_empregador: newBond.shape.novo_empregador,
  data_admissao: newBond.shape.data_admissao,
  margem_disponivel: signedReais,
});

export const monthOfPartner = z.strictObject({ ...partner, competencia: settlementProcessed.shape.competencia });

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
