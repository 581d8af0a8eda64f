/** The shapes that auditors read beside the lists: an export's manifest, the balance, one delivery as evidence. */
import { z } from 'zod';
import { ANCHOR_KINDS, DELIVERY_STATUSES } from '../statuses.ts';
import { date, id, provedId, shown, timestamp } from '../values.ts';

const digest = z.string().regex(/^[0-9a-f]{64}$/);

/** An export's number of rows, the SHA-256 of all its bytes before the manifest, and the newest checkpoint. */
export const exportManifest = z.strictObject({
  linhas: z.int(),
  sha256: digest,
  checkpoint: z.string().nullable(),
  gerado_em: timestamp,
  filtros: z.record(z.string(), z.string()),
  /** A signed note by the keys of checkpoints; null where nothing is signed. */
  assinatura: shown(z.string().nullable(), null),
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
  /** Events that came in with history: they make no delivery, and count in none of the others. */
  importados: z.int(),
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
  /** How many of the days were kept from an earlier balance, and the seals that these rest on; null: none, all was counted now. */
  guardados: z.strictObject({ dias: z.int(), selo_de: z.int(), selo_ate: z.int() }).nullable(),
});
export type BalanceResource = z.infer<typeof balance>;

/** Base64 that only these bytes have: no blanks, no bits behind the last byte. */
const bytes = z.string().regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/);
/** 16 bytes. With another length, bytes could move between salt and text under the same hash. */
const salt = z.string().regex(/^[A-Za-z0-9+/]{21}[AQgw]==$/);
/** SHA-256 hashes of a proof, the lowest first. */
const path = z.array(z.string().regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/));

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const scalars = z.union([scalar, z.array(scalar)]);
/** Described as any value: a generated Java client does not compile with the alternatives. */
const fieldValue = z.custom<z.output<typeof scalars>>((value) => scalars.safeParse(value).success);

/**
 * A row as it was sealed. Its leaf is the hash of `entrada` (base64); `campos` says the same to people. `selo`: null while
 * unsealed. `indice` and `caminho` lead to that seal's root; missing where it was not sealed there. `resposta` and its `sal` are an
 * attempt's.
 */
const provedRow = z.strictObject({
  tabela: z.enum(['events', 'attempts', 'send_orders', 'erasure_orders', 'erasure_pages']),
  campos: z.record(z.string(), fieldValue),
  entrada: bytes.nullable(),
  resposta: bytes.nullable().optional(),
  sal: salt.nullable().optional(),
  selo: z.int().nullable(),
  indice: z.int().min(0).optional(),
  caminho: path.optional(),
});
export type ProvedRow = z.infer<typeof provedRow>;

/** An outside receipt of a checkpoint: a time stamp's DER, a cosignature, a copy's place. `caminho`: RFC 9162, to ours. */
const anchorReceipt = z.strictObject({
  tipo: z.enum(ANCHOR_KINDS),
  onde: z.string().meta({ examples: ['witness.example/w1'] }),
  checkpoint: z.string(),
  recibo: bytes,
  ancorada_em: timestamp,
  caminho: path.nullable(),
});

const provedDelivery = z.strictObject({
  id: provedId,
  evento_id: provedId,
  webhook_id: provedId,
  parceiro_id: provedId,
  status: z.enum(DELIVERY_STATUSES),
  criada_em: timestamp,
  concluida_em: timestamp.nullable(),
});

/**
 * One delivery as evidence, complete in itself: `audit check` leads each row's leaf to its seal's root and that to the
 * checkpoint's, and compares the body, without a database. Without `auditoria:cpf` it is masked: `retido` lists what was withheld.
 */
export const proof = z.strictObject({
  formato: z.literal('carteiro-prova-2'),
  gerada_em: timestamp,
  entrega: provedDelivery,
  corpo: shown(z.string(), '{"evento":"autorizacao.confirmada","data":{"cpf_trabalhador":"***********"}}'),
  /** The event's: SHA-256 of it and the body is in the event and in each attempt. Null when it was withheld or erased; `corpo` is then `apagado`. */
  sal: salt.nullable(),
  /** Null when the event is missing; the proof then does not fit. */
  evento: provedRow.nullable(),
  tentativas: z.array(provedRow),
  /** The authors of its resends, tests and resumptions. */
  pedidos: z.array(provedRow),
  /** By which order the event was erased, and the page of its list that names the event; null where it was not. */
  apagamento: z.strictObject({ pedido: provedRow, pagina: provedRow }).nullable(),
  /** The rows' seals. `caminho`: to the checkpoint's root (null above it) but for its last `iguais` hashes, which the first has. */
  selos: z.array(
    z.strictObject({ numero: z.int(), entrada: z.string(), caminho: path.nullable(), iguais: z.int().min(0) }),
  ),
  /** A C2SP tlog-checkpoint; null when none was signed yet. */
  checkpoint: z.string().nullable(),
  /** Of each place outside the first receipt that covers the seals above. */
  ancoras: z.array(anchorReceipt),
  retido: z.string().nullable(),
});
export type Proof = z.infer<typeof proof>;
