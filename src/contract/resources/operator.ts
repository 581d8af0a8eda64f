/** What an operator reads and changes, over all partners. */
import { z } from 'zod';
import {
  DELIVERY_STATUSES,
  DOCUMENT_MODES,
  ISSUANCE_MODES,
  OUTCOMES,
  PARTNER_CHANGES,
  SIGNING_MODES,
  WAITING_REASONS,
  WEBHOOK_CHANGES,
} from '../statuses.ts';
import { hasNoCpf, NO_CPF } from '../masking/cpf.ts';
import { component, id, shown, text, timestamp } from '../values.ts';

/** The most deliveries of one webhook that an operator lets be in flight at once. */
export const MAX_CAP = 1_000;
/** Deliveries of a state are counted up to this many; one more stands for more. */
export const COUNTED = 10_000;
/** Characters of an author or a reason. */
export const MAX_LINE = 500;

/** History is sealed, so nobody could erase a CPF from it. */
const lineOfReason = text(MAX_LINE)
  .refine(hasNoCpf, NO_CPF)
  .meta({ text: { pt: 'Fica no histórico; nenhum CPF', en: 'Kept in the history; no CPF' } });
const seconds = z.number();

/** Every act says why. */
export const act = z.strictObject({ motivo: lineOfReason });

const CAP = `deve ser um número inteiro de 1 a ${MAX_CAP}`;
export const capChange = z.strictObject({
  limite: z.int(CAP).min(1, CAP).max(MAX_CAP, CAP),
  motivo: lineOfReason.optional(),
});

const shared = { mudou_em: timestamp, autor: z.string(), motivo: z.string().nullable() };
const proximo_cursor = z.string().nullable();

export const operatorWebhook = component('WebhookDaOperacao', {
  id,
  parceiro_id: id,
  parceiro: z.string(),
  /** Without what its query holds. */
  url: z.string(),
  eventos: z.array(z.string().meta({ examples: ['averbacao.concluida'] })),
  /** The webhook and its partner are. */
  ativo: z.boolean(),
  limite: z.int(),
  /** Its last attempt had no answer, so that it gets one at a time. */
  sem_resposta: z.boolean(),
  silenciado_desde: timestamp.nullable(),
  falhando_desde: timestamp.nullable(),
  /** Failed attempts; only in the list of failing webhooks. */
  falhas_ultima_hora: z.int().optional(),
});
export type OperatorWebhook = z.infer<typeof operatorWebhook>;

export const operatorWebhooks = z.strictObject({ itens: z.array(operatorWebhook), proximo_cursor });
export type OperatorWebhooks = z.infer<typeof operatorWebhooks>;

/** With the newest lines of its history; the cursor is that of older ones. */
export const shownWebhook = component('WebhookDaOperacaoComHistorico', {
  ...operatorWebhook.shape,
  /** When the receiver's certificate, or one of its chain, ends; and the client certificate of the webhook's own. */
  certificado_ate: timestamp.nullable(),
  certificado_proprio_ate: timestamp.nullable(),
  entregas: z.strictObject({ pendentes: z.int(), em_andamento: z.int(), suspensas: z.int(), em_erro: z.int() }),
  historico: z.array(component('LinhaDoWebhook', { mudanca: z.enum(WEBHOOK_CHANGES), ...shared })),
  proximo_cursor,
});
export type ShownWebhook = z.infer<typeof shownWebhook>;

export const operatorPartner = component('Parceiro', {
  id,
  nome: z.string().meta({ examples: ['Parceiro Um'] }),
  ativo: z.boolean(),
  tipo_assinatura: z.enum(SIGNING_MODES),
  entrega_documentos: z.enum(DOCUMENT_MODES),
  emissao: z.enum(ISSUANCE_MODES),
  criado_em: timestamp,
});

export const operatorPartners = z.strictObject({ itens: z.array(operatorPartner), proximo_cursor });

/** With the newest lines of its history; the cursor is that of older ones. */
export const shownPartner = component('ParceiroComHistorico', {
  ...operatorPartner.shape,
  historico: z.array(component('LinhaDoParceiro', { mudanca: z.enum(PARTNER_CHANGES), ...shared })),
  proximo_cursor,
});
export type ShownPartner = z.infer<typeof shownPartner>;

export const queue = component('Fila', {
  em: timestamp,
  pendentes: z.int(),
  /** False: there may be more. */
  contagem_exata: z.boolean(),
  em_andamento: z.int(),
  espera_mais_longa_s: seconds,
  silenciados: z.int(),
  falhando: z.int(),
  /** False: margin queries and registrations are 503. */
  registry_configurado: z.boolean(),
  por_segundo: z.strictObject({ tentativas: seconds, entregues: seconds, falhas: seconds }),
  /** Those with something pending, the latest first. */
  webhooks: z.array(
    component('WebhookNaFila', {
      webhook_id: id,
      parceiro: z.string(),
      url: z.string(),
      estado: z.enum(['ativa', 'falhando', 'saturada', 'silenciada', 'inativa']),
      pendentes: z.int(),
      em_andamento: z.int(),
      vencida_ha_s: seconds,
      /** What keeps its deliveries from being sent now, on our side, in the words of the log. */
      falha_nossa: z
        .string()
        .nullable()
        .meta({ examples: ['no key of the ring has encrypted the secret of webhook 0199…'] }),
    }),
  ),
  /** Those that processes show receivers, the registry and the time-stamp authority, by the setting that names the file. */
  certificados: z.array(
    component('CertificadoNosso', {
      arquivo: z.string().meta({ examples: ['EGRESS_CERT_FILE'] }),
      valido_ate: timestamp,
    }),
  ),
  pollers: z.array(
    component('PollerVisto', {
      poller: z.string(),
      em_andamento: z.int(),
      tentativas_ultimo_minuto: z.int(),
      visto_ha_s: seconds,
    }),
  ),
});
export type Queue = z.infer<typeof queue>;

/** Why a delivery waits, with the row that proves it. */
export const operatorWait = component('EsperaDaOperacao', {
  entrega_id: id,
  webhook_id: id,
  parceiro_id: id,
  status: z.enum(DELIVERY_STATUSES),
  motivo: z.enum(WAITING_REASONS),
  explicacao: z.string().meta({ examples: ['O operador silenciou o webhook em 2026-01-31T12:00:00.000Z.'] }),
  explicacao_en: z.string().meta({ examples: ['An operator muted its webhook at 2026-01-31T12:00:00.000Z.'] }),
  proxima_tentativa_em: timestamp.nullable(),
  vencida_ha_s: seconds,
  falhas: z.int(),
  ultimo_resultado: z.enum(OUTCOMES).nullable(),
  /** The claim that has it in flight, and for how long. */
  reivindicacao: z.string().nullable(),
  reivindicada_ha_s: seconds.nullable().meta({ examples: [1.5] }),
  /** Of its webhook: deliveries in flight, the slots that it has now, and since when it is muted or failing. */
  em_andamento: z.int(),
  janela: z.int().meta({ examples: [8] }),
  silenciado_desde: timestamp.nullable(),
  falhando_desde: timestamp.nullable(),
  pollers_vivos: z.int().meta({ examples: [2] }),
});
export type OperatorWait = z.infer<typeof operatorWait>;

export const jobs = z.strictObject({
  itens: z.array(
    component('Tarefa', {
      tarefa: z.string().meta({ examples: ['verify'] }),
      /** Five fields of cron by the time of São Paulo; null: off. */
      agenda: shown(z.string().nullable(), '0 3 * * *'),
      proxima_em: timestamp.nullable(),
      em_andamento: z.boolean(),
      /** Of the last run. */
      terminou_em: timestamp.nullable(),
      duracao_s: seconds.nullable().meta({ examples: [12.5] }),
      codigo_saida: shown(z.int().nullable(), 0),
      resultado: shown(z.string().nullable(), '812 seals, 0 findings'),
      /** Since it should have begun; 0 while it is not due, or runs. */
      atrasada_s: seconds.meta({ examples: [0] }),
    }),
  ),
});
export type Jobs = z.infer<typeof jobs>;
