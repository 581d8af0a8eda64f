/** Deliveries, their attempts and the feed of events, as a partner reads them. */
import { z } from 'zod';
import { envelope, TEST_NAME } from '../delivery.ts';
import { SUBSCRIBABLE_NAMES } from '../events.ts';
import { DELIVERY_STATUSES, OUTCOMES, WAITING_REASONS } from '../statuses.ts';
import { component, id, timestamp } from '../values.ts';

export const MAX_PAGE = 500;
export const DEFAULT_PAGE = 100;

/** The names of deliveries: the emitted events and the partner's own test. */
export const deliveredName = z.enum([...SUBSCRIBABLE_NAMES, TEST_NAME]).meta({ id: 'NomeEntregue' });

/** Components of the description, so each is a class in a generated client. */
export const deliveryStatus = z.enum(DELIVERY_STATUSES).meta({ id: 'StatusDeEntrega' });
export const outcome = z.enum(OUTCOMES).meta({ id: 'ResultadoDeTentativa' });

/** The most attempts that one answer shows of a delivery; a resend adds up to six. */
export const ATTEMPTS_SHOWN = 50;

const cursor = z.string().nullable();

export const delivery = component('Entrega', {
  /** The value of `X-Webhook-Delivery`, the same for every attempt and every resend. */
  id,
  webhook_id: id,
  evento_id: id,
  evento: deliveredName,
  /** Made by `POST …/teste`: it is tried once. */
  teste: z.boolean(),
  emprestimo_id: id.nullable(),
  versao_emprestimo: z.int().nullable(),
  status: deliveryStatus,
  total_tentativas: z.int(),
  /** Of the attempt that delivered, else of the newest attempt; null before the first attempt has ended. */
  ultimo_resultado: outcome.nullable().meta({ 'x-since': '0.2' }),
  ultimo_status_http: z.int().nullable().meta({ 'x-since': '0.2' }),
  /** True while an attempt awaits its answer. */
  em_andamento: z.boolean(),
  /** Also null while it waits for an earlier delivery of its loan (`ordem` por_emprestimo). */
  proxima_tentativa_em: timestamp.nullable(),
  criada_em: timestamp,
  concluida_em: timestamp.nullable(),
});
export type DeliveryResource = z.infer<typeof delivery>;

const headers = z.array(z.strictObject({ nome: z.string(), valor: z.string() }));

const attempt = component('Tentativa', {
  numero: z.int(),
  inicio: timestamp,
  duracao_ms: z.int().nullable(),
  resultado: outcome,
  status_http: z.int().nullable(),
  erro: z.string().nullable(),
  /** The answer's header fields; empty without an answer. What may bear a credential and what looks like a CPF is masked. */
  resposta_cabecalhos: headers,
  /** The first 8 KiB of the answer's body as text, or fewer where the operator keeps less, masked alike. */
  resposta: z.string().nullable(),
  /** True when the attempt was already recorded as lost (`desconhecido`) and its poller reported after all. */
  atrasada: z.boolean(),
});

export type AttemptResource = z.infer<typeof attempt>;

export const deliveryWithAttempts = component('EntregaComTentativas', {
  ...delivery.shape,
  /** The newest {@link ATTEMPTS_SHOWN}, or fewer, the oldest of them first. */
  tentativas: z.array(attempt),
});
export type DeliveryWithAttempts = z.infer<typeof deliveryWithAttempts>;

const sentAttempt = component('TentativaEnviada', {
  ...attempt.shape,
  url: z.string(),
  /** The address that was connected to; null when none was, or when nobody knows. */
  endereco: z.string().nullable(),
  /** In the order in which they were sent, beside those that HTTP itself asks for. */
  cabecalhos: headers,
  /** False where it is not known any more which secret signed: then the signatures are left out. */
  assinaturas_conhecidas: z.boolean(),
});
export type SentAttempt = z.infer<typeof sentAttempt>;

const NEWEST = {
  pt: `As ${ATTEMPTS_SHOWN} mais novas, ou as anteriores ao cursor; da mais antiga à mais nova`,
  en: `The newest ${ATTEMPTS_SHOWN}, or those before the cursor; the oldest first`,
};
const OLDER = {
  pt: 'O parâmetro tentativas_depois que traz as anteriores a estas; null se não há',
  en: 'The parameter tentativas_depois that brings those before these; null where there are none',
};

/** One delivery with all that was sent. `corpo` is the exact body of every attempt, whose bytes are its UTF-8. */
export const deliveryAsSent = component('EntregaComEnvios', {
  ...delivery.shape,
  corpo: z.string(),
  tentativas: z.array(sentAttempt).meta({ text: NEWEST }),
  tentativas_depois: cursor.meta({ text: OLDER, 'x-since': '0.4' }),
  /** Slots of the schedule that are spent. */
  falhas: z.int(),
  /** When it will be tried, should each attempt fail as it starts; empty for one that is over, suspended or under way. */
  tentativas_previstas: z.array(timestamp),
});
export type DeliveryAsSent = z.infer<typeof deliveryAsSent>;

export const deliveryWait = component('EsperaDeEntrega', {
  entrega_id: id,
  status: deliveryStatus,
  motivo: z.enum(WAITING_REASONS),
  explicacao: z.string().meta({
    examples: ['A próxima tentativa é em 2026-01-31T12:05:00.000Z; falhas até agora: 1 (resposta_nao_2xx).'],
  }),
  proxima_tentativa_em: timestamp.nullable(),
});
export type DeliveryWait = z.infer<typeof deliveryWait>;

/** A page may hold fewer deliveries than asked for, or none, and still have a next page, where the search continues. */
export const deliveryPage = z.strictObject({ itens: z.array(delivery), proximo_cursor: cursor });

/** The counts of a resend, or of its simulation. Repeat the request with `cursor` until the answer has none. */
export const resendResult = z.strictObject({
  simulado: z.boolean(),
  entregas: z.int(),
  /** In flight now, and therefore not resent. */
  em_andamento: z.int(),
  proximo_cursor: cursor,
});

export const deliveriesOfEvent = z.array(z.strictObject({ id, webhook_id: id, status: deliveryStatus }));

const ID_EXAMPLE = '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b';

const fedEnvelope = envelope.meta({
  examples: [
    {
      evento: 'averbacao.concluida',
      timestamp: '2026-01-31T12:00:00.000Z',
      parceiro_id: ID_EXAMPLE,
      data: { emprestimo_id: ID_EXAMPLE, averbacao_id: ID_EXAMPLE, protocolo_registry: 'REG-2DCA4C14FF77347F' },
    },
  ],
});

const UNREADABLE = {
  pt: 'Presente só em um evento que ninguém consegue ler, por um defeito deste lado: ele vem sem envelope e não é enviado. Continue a leitura; o operador é avisado',
  en: 'Only there on an event that nobody can read, by a fault of this side: it comes without its envelope and is not sent. Go on reading; the operator is told',
};

const FORGOTTEN = {
  pt: 'Presente só em um evento cujo trabalhador foi apagado: ele vem sem envelope, com o mesmo id e a mesma versão',
  en: 'Only there on an event whose worker was erased: it comes without its envelope, with the same id and version',
};

const IMPORTED = {
  pt: 'Só num evento do histórico, de antes de o financiador usar este serviço: nunca foi nem será entregue. Vem só com historico=true',
  en: 'Only there on an event of history, from before the lender used this service: it never was delivered and never will be. It comes with historico=true alone',
};

export const feedItem = component('EventoDoParceiro', {
  evento_id: id,
  emprestimo_id: id.nullable(),
  versao_emprestimo: z.int().nullable(),
  entregas: deliveriesOfEvent,
  /** Absent from an event with `ilegivel` or `apagado`. */
  envelope: fedEnvelope.optional(),
  ilegivel: z.literal(true).optional().meta({ text: UNREADABLE }),
  apagado: z.literal(true).optional().meta({ text: FORGOTTEN }),
  importado: z.literal(true).optional().meta({ text: IMPORTED }),
});
export type FeedItem = z.infer<typeof feedItem>;

/** The last page has `proximo_cursor` too: asked again later, it answers the events since. */
export const feedPage = z.strictObject({ itens: z.array(feedItem), proximo_cursor: cursor, ha_mais: z.boolean() });
