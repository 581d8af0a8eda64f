/** The shapes that auditors read: attempts, the balance, one delivery as evidence. */
import { z } from 'zod';
import { deliveredName } from './delivery-resource.ts';
import { DELIVERY_STATUSES, OUTCOMES } from '../statuses.ts';
import { date, id, timestamp } from '../values.ts';

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
  endereco: z.string().nullable(),
  chave_id: z.string().nullable(),
  poller: z.string(),
  /** The claim that took the delivery: its poller's name and a number. */
  reivindicacao: z.string(),
  erro: z.string().nullable(),
  /** The first 1 KiB of the answer as text. Without `auditoria:cpf`, CPFs and query strings are masked here, in `url` and in `erro`. */
  resposta: z.string().nullable(),
});
export type AuditedAttemptResource = z.infer<typeof auditedAttempt>;

/** A page may hold fewer rows than asked for, or none, and still have a next page, where the search continues. */
export const auditedAttemptPage = z.strictObject({
  itens: z.array(auditedAttempt),
  proximo_cursor: z.string().nullable(),
});

const digest = z.string().regex(/^[0-9a-f]{64}$/);

const sealHead = z.strictObject({ numero: z.int(), hash: digest });

/** An export's number of rows, the SHA-256 of all its bytes before the manifest, and the newest seal. */
export const exportManifest = z.strictObject({
  linhas: z.int(),
  sha256: digest,
  selo: sealHead.nullable(),
  gerado_em: timestamp,
  filtros: z.record(z.string(), z.string()),
});
export type ExportManifest = z.infer<typeof exportManifest>;

/** The most days that one balance over HTTP spans, and the most differences that it lists; the command has no limit. */
export const MAX_BALANCE_DAYS = 31;
export const MAX_LISTED_DIFFERENCES = 1_000;

const DIFFERENCES = [
  'entrega_ausente',
  'entrega_excedente',
  'fan_out_divergente',
  'mensagem_ausente',
  'entrega_sem_evento',
  'fato_inesperado',
] as const;

const counts = {
  eventos: z.int(),
  esperadas: z.int(),
  entregue: z.int(),
  pendente: z.int(),
  erro: z.int(),
  suspensa: z.int(),
};

const difference = z.strictObject({
  tipo: z.enum(DIFFERENCES),
  dia: date,
  parceiro_id: id.nullable(),
  evento_id: id,
  evento: z.string().nullable(),
  webhook_id: id.nullable(),
  entrega_id: id.nullable(),
  detalhe: z.string(),
});
export type DifferenceResource = z.infer<typeof difference>;

const balanceLine = z.strictObject({ dia: date, parceiro_id: id, ...counts });
export type BalanceLine = z.infer<typeof balanceLine>;

export const balance = z.strictObject({
  de: date,
  ate: date,
  fecha: z.boolean(),
  linhas: z.array(balanceLine),
  total: z.strictObject(counts),
  diferencas: z.array(difference),
  total_diferencas: z.int(),
});
export type BalanceResource = z.infer<typeof balance>;

const seal = z.strictObject({
  numero: z.int(),
  primeira_epoca: z.int(),
  primeira_transacao: z.int(),
  epoca_final: z.int(),
  transacao_final: z.int(),
  linhas: z.int(),
  resumo: digest,
  anterior: digest,
  hash: digest,
  selado_em: timestamp,
});
export type SealResource = z.infer<typeof seal>;

/** A row as it was sealed; `selo` is null while no seal covers the row. */
const sealedLine = z.strictObject({ linha: z.string(), folha: digest, selo: z.int().nullable() });

const provedDelivery = z.strictObject({
  id,
  evento_id: id,
  webhook_id: id,
  parceiro_id: id,
  status: z.enum(DELIVERY_STATUSES),
  criada_em: timestamp,
  concluida_em: timestamp.nullable(),
});

/** The seals from a proof's first one on, up to the head unless `cadeia_completa` is false. */
const sealChain = {
  cadeia: z.array(seal),
  cadeia_completa: z.boolean(),
  cabeca: sealHead.nullable(),
};

/**
 * One delivery as evidence, complete in itself: `audit check` recomputes the bytes' digest, every leaf, the digest of
 * each batch from its groups and the hash of each seal of `cadeia`, without a database.
 */
export const proof = z.strictObject({
  formato: z.literal('carteiro-prova-1'),
  gerada_em: timestamp,
  entrega: provedDelivery,
  corpo_base64: z.base64(),
  corpo_sha256: digest,
  /** Null when the message is missing; the proof then does not fit. */
  evento: sealedLine.nullable(),
  tentativas: z.array(sealedLine),
  /** The authors of its resends, tests and resumptions. */
  pedidos: z.array(sealedLine),
  /** Each batch that holds one of the lines: the digests of all its groups, and the leaves of those groups that hold a line. */
  lotes: z.array(
    z.strictObject({
      numero: z.int(),
      grupos: z.array(digest),
      abertos: z.array(z.strictObject({ grupo: z.int(), folhas: z.array(digest) })),
    }),
  ),
  ...sealChain,
});
export type Proof = z.infer<typeof proof>;

/** A row's line, masked; `selo` is the number of the seal that covers it. */
const maskedLine = z.strictObject({ linha: z.string(), selo: z.int().nullable() });

/**
 * A {@link proof} for an auditor without `auditoria:cpf`. It has no digest of a row or of the body: everything but the CPF in
 * them is known, so trying every CPF against the digest would reveal it. `retido` lists the withheld fields.
 */
export const maskedProof = z.strictObject({
  formato: z.literal('carteiro-prova-mascarada-1'),
  gerada_em: timestamp,
  entrega: provedDelivery,
  corpo: z
    .string()
    .meta({ examples: ['{"evento":"autorizacao.confirmada","data":{"cpf_trabalhador":"***********"}}'] }),
  evento: maskedLine.nullable(),
  tentativas: z.array(maskedLine),
  pedidos: z.array(maskedLine),
  ...sealChain,
  retido: z.string().meta({ examples: ['CPFs e consultas de URLs; as folhas das linhas, os lotes e o corpo exato'] }),
});
export type MaskedProof = z.infer<typeof maskedProof>;
