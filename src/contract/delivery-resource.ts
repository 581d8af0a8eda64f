/** Deliveries, their attempts and the feed of events, as a partner reads them. */
import { z } from 'zod';
import { envelope, TEST_NAME } from './delivery.ts';
import { EMITTED_NAMES } from './events.ts';
import { DELIVERY_STATUSES, OUTCOMES } from './statuses.ts';
import { id, timestamp } from './values.ts';

export const MAX_PAGE = 500;
export const DEFAULT_PAGE = 100;

/** What a delivery can be of: an event that partners are sent, or the partner's own test. */
export const deliveredName = z.enum([...EMITTED_NAMES, TEST_NAME]).meta({ id: 'NomeEntregue' });

/** Components, and so classes of their own in a generated client. */
export const deliveryStatus = z.enum(DELIVERY_STATUSES).meta({ id: 'StatusDeEntrega' });
export const outcome = z.enum(OUTCOMES).meta({ id: 'ResultadoDeTentativa' });

const cursor = z.string().nullable();

const delivery = z
  .strictObject({
    /** The value of `X-Webhook-Delivery`, the same for every attempt and every resend. */
    id,
    webhook_id: id,
    evento_id: id,
    evento: deliveredName,
    emprestimo_id: id.nullable(),
    versao_emprestimo: z.int().nullable(),
    status: deliveryStatus,
    total_tentativas: z.int(),
    /** Of the attempt that delivered it, else of the newest; null before the first has ended. */
    ultimo_resultado: outcome.nullable(),
    ultimo_status_http: z.int().nullable(),
    /** True while an attempt awaits its answer. */
    em_andamento: z.boolean(),
    proxima_tentativa_em: timestamp.nullable(),
    criada_em: timestamp,
    concluida_em: timestamp.nullable(),
  })
  .meta({ id: 'Entrega' });
export type DeliveryResource = z.infer<typeof delivery>;

const attempt = z
  .strictObject({
    numero: z.int(),
    inicio: timestamp,
    duracao_ms: z.int().nullable(),
    resultado: outcome,
    status_http: z.int().nullable(),
    erro: z.string().nullable(),
    /** The first 1 KiB of the answer as text, with what looks like a CPF masked. */
    resposta: z.string().nullable(),
    /** True for the report of an attempt that had been given up for lost. */
    atrasada: z.boolean(),
  })
  .meta({ id: 'Tentativa' });
export type AttemptResource = z.infer<typeof attempt>;

export const deliveryWithAttempts = delivery
  .extend({ tentativas: z.array(attempt) })
  .meta({ id: 'EntregaComTentativas' });
export type DeliveryWithAttempts = z.infer<typeof deliveryWithAttempts>;

/** A page may hold fewer than asked for, or none, and still have a next one: a search goes on where it stopped. */
export const deliveryPage = z.strictObject({ itens: z.array(delivery), proximo_cursor: cursor });

/** What a resend of many did, or would do; the same request with `cursor` goes on until there is none. */
export const resendResult = z.strictObject({
  simulado: z.boolean(),
  entregas: z.int(),
  /** Under way at this moment, and therefore left alone. */
  em_andamento: z.int(),
  proximo_cursor: cursor,
});

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

const feedItem = z.strictObject({
  evento_id: id,
  emprestimo_id: id.nullable(),
  versao_emprestimo: z.int().nullable(),
  entregas: z.array(z.strictObject({ id, webhook_id: id, status: deliveryStatus })),
  envelope: fedEnvelope,
});
export type FeedItem = z.infer<typeof feedItem>;

/** `proximo_cursor` is also given on the last page: asked again later, it brings what came since. */
export const feedPage = z.strictObject({ itens: z.array(feedItem), proximo_cursor: cursor, ha_mais: z.boolean() });
