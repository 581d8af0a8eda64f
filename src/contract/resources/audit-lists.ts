/** The rows that auditors list and export, each as its view in SQL names it. */
import { z } from 'zod';
import { deliveredName } from './delivery-resource.ts';
import {
  DELIVERY_STATUSES,
  DOCUMENT_MODES,
  ISSUANCE_MODES,
  OUTCOMES,
  PARTNER_CHANGES,
  SEND_ORDERS,
  SIGNING_MODES,
  WEBHOOK_CHANGES,
} from '../statuses.ts';
import { id, shown, timestamp } from '../values.ts';

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const;

const text = z.string().nullable();
const digest = z.string().regex(/^[0-9a-f]{64}$/);

/** Without `auditoria:cpf`, CPFs and query strings are masked in `url`, `erro`, `resposta_cabecalhos` and `resposta`. */
export const auditedAttempt = z.strictObject({
  entrega_id: id,
  numero: z.int(),
  atrasada: z.boolean(),
  parceiro_id: id,
  webhook_id: id,
  evento_id: id.nullable(),
  evento: deliveredName.nullable(),
  emprestimo_id: id.nullable(),
  inicio: timestamp,
  registrada_em: timestamp,
  duracao_ms: z.int().nullable(),
  resultado: z.enum(OUTCOMES),
  status_http: z.int().nullable(),
  url: z.string(),
  endereco: text,
  chave_id: text,
  poller: z.string(),
  /** The claim that took the delivery: its poller's name and a number. */
  reivindicacao: z.string(),
  erro: text,
  resposta_cabecalhos: text,
  /** The beginning of the answer's body. */
  resposta: text,
});
export type AuditedAttemptResource = z.infer<typeof auditedAttempt>;

export const auditedDelivery = z.strictObject({
  id,
  evento_id: id,
  webhook_id: id,
  parceiro_id: id,
  status: z.enum(DELIVERY_STATUSES),
  total_tentativas: z.int(),
  proxima_tentativa_em: timestamp.nullable(),
  criada_em: timestamp,
  concluida_em: timestamp.nullable(),
});

/** Where a row lies in the log. A transaction's number is a text: it may be larger than JSON's numbers. */
const place = { epoca: z.int(), transacao: z.string() };

export const auditedEvent = z.strictObject({
  id,
  posicao: z.int(),
  fluxo: id,
  versao: z.int(),
  evento: z.string(),
  familia: z.string(),
  parceiro_id: id,
  /** The payload as it was written, as text. */
  dados: z.string(),
  /** Null where it is no time of four digits. */
  ocorrido_em: timestamp.nullable(),
  autor: z.string(),
  requisicao_id: text,
  importado: z.boolean(),
  ...place,
});

export const auditedSendOrder = z.strictObject({
  posicao: z.int(),
  tipo: z.enum(SEND_ORDERS),
  webhook_id: id,
  parceiro_id: id,
  entregas: z.array(id),
  autor: z.string(),
  motivo: text,
  requisicao_id: id.nullable(),
  pedido_em: timestamp,
  ...place,
});

/** A state that a webhook or a partner had; what the other has is null. */
export const auditedHistory = z.strictObject({
  sobre: z.enum(['webhook', 'parceiro']),
  posicao: z.int(),
  parceiro_id: id,
  webhook_id: id.nullable(),
  url: text,
  eventos: z.array(z.string()).nullable(),
  nome: text,
  tipo_assinatura: z.enum(SIGNING_MODES).nullable(),
  entrega_documentos: z.enum(DOCUMENT_MODES).nullable(),
  emissao: z.enum(ISSUANCE_MODES).nullable(),
  ativo: z.boolean(),
  mudanca: z.enum([...new Set([...WEBHOOK_CHANGES, ...PARTNER_CHANGES])]),
  autor: z.string(),
  motivo: text,
  requisicao_id: id.nullable(),
  mudado_em: timestamp,
  vale_em: timestamp.nullable(),
  ...place,
});

/** A request of a token that may see CPFs. */
export const auditedRead = z.strictObject({
  posicao: z.int(),
  autor: z.string(),
  operacao: shown(z.string(), 'GET /v1/auditoria/eventos'),
  pedido: shown(z.string(), '/v1/auditoria/eventos?limite=50'),
  requisicao_id: id.nullable(),
  /** The events that the answer named; null for a file, which has what `pedido` asks for. */
  eventos: z.array(id).nullable(),
  lida_em: timestamp,
  ...place,
});

/** A change of the event catalog, or of the settings that a process started with. */
export const auditedSystemChange = z.strictObject({
  posicao: z.int(),
  sobre: z.enum(['catalogo', 'configuracao']),
  nome: shown(z.string(), 'desembolso.liquidado'),
  /** JSON; null for an event that was taken out. */
  valor: shown(text, '{"versao":2}'),
  autor: z.string(),
  mudado_em: timestamp,
  ...place,
});

/** What a verification or a balance said. */
export const auditedVerdict = z.strictObject({
  sobre: z.enum(['verificacao', 'balanco']),
  posicao: z.int(),
  confere: z.boolean(),
  /** Findings, or differences. */
  achados: z.int(),
  /** A verification read the rows above this seal, up to `selos`; 0: all. */
  desde_selo: z.int().nullable(),
  selos: z.int().nullable(),
  linhas: z.int().nullable(),
  de: shown(text, '2026-01-01'),
  ate: shown(text, '2026-01-31'),
  em: timestamp,
});

/** The keyed digest by which reads of a worker's events are found. */
export const workerDigest = z.strictObject({ resumo: digest });

export const auditedSeal = z.strictObject({
  numero: z.int(),
  primeira_epoca: z.int(),
  primeira_transacao: z.string(),
  epoca_final: z.int(),
  transacao_final: z.string(),
  linhas: z.int(),
  /** Hexadecimal, as `folha`: the root of the tree of its rows, and the seal's own leaf in the log's tree. */
  raiz: digest,
  /** Of what erasing would leave of its events; null where it has none. */
  restante: digest.nullable(),
  folha: digest,
  selado_em: timestamp,
});
export type AuditedSealResource = z.infer<typeof auditedSeal>;
