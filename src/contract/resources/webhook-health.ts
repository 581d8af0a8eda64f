/** How a webhook fares. */
import { z } from 'zod';
import { FAILURE_OUTCOMES, OUTCOMES, WEBHOOK_STATES } from '../statuses.ts';
import { component, id, shown, timestamp } from '../values.ts';

/** Pending deliveries of one webhook among which the oldest is looked for, and up to which they are counted. */
export const MAX_PENDING_SCANNED = 200;

/** Deliveries of one webhook among which a row of failures is counted. */
export const STREAK_OF = 100;

/** Deliveries in `erro` counted; one more stands for more. */
export const LOST_COUNTED = 1_000;

const lost = component('EntregaEmErro', {
  id,
  criada_em: timestamp,
  terminou_em: timestamp,
  /** Of its last attempt. */
  resultado: z.enum(OUTCOMES).meta({ examples: ['resposta_nao_2xx'] }),
  status_http: shown(z.int(), 503).nullable(),
});
export type LostDelivery = z.infer<typeof lost>;

const failures = z
  .object(
    Object.fromEntries(FAILURE_OUTCOMES.map((outcome) => [outcome, z.int()])) as {
      [O in (typeof FAILURE_OUTCOMES)[number]]: z.ZodInt;
    },
  )
  .strict()
  .meta({ id: 'FalhasPorResultado' });

const period = component('PeriodoDeSaude', {
  /** The full hour, or the midnight of São Paulo, with which the period begins. */
  desde: timestamp,
  /** Attempts, not deliveries. */
  entregues: z.int(),
  falhas: failures,
  /** Of the answers, whatever they said; null without any. At most a tenth above the true value. */
  p50_ms: z.int().nullable(),
  p95_ms: z.int().nullable(),
});
export type HealthPeriod = z.infer<typeof period>;

export const webhookHealth = component('SaudeDoWebhook', {
  webhook_id: id,
  /** The partner's own name for it. */
  rotulo: shown(z.string(), 'Produção, averbações').nullable(),
  estado: z.enum(WEBHOOK_STATES),
  /** Of the pending deliveries that are due first, at most {@link MAX_PENDING_SCANNED}, the one that was made first. */
  pendente_mais_antiga: z
    .strictObject({ id, criada_em: timestamp, proxima_tentativa_em: timestamp.nullable() })
    .nullable(),
  /** Of the newest {@link STREAK_OF} deliveries, how many of the newest that were tried failed one after the other. */
  falhas_seguidas: z.int(),
  /** Of the same deliveries. */
  ultima_entregue_em: timestamp.nullable(),
  /** Deliveries that stand in `erro`, up to {@link LOST_COUNTED} + 1; the one made first, and the one made last. */
  em_erro: z.int().meta({ 'x-since': '0.4' }),
  primeira_em_erro: lost.nullable().meta({ 'x-since': '0.4' }),
  ultimo_erro: lost.nullable().meta({ 'x-since': '0.4' }),
  /** Of its newest ten 2xx answers, how many were HTML pages, or larger than 8 KiB. */
  respostas_estranhas: z.int().meta({ 'x-since': '0.4' }),
  /** Null once the URL has answered 2xx. Until then one delivery at a time is sent, and behind ten failures none before the time. */
  sem_consentimento: z.strictObject({ recusas: z.int(), proxima_entrega_em: timestamp.nullable() }).nullable(),
  /** When the receiver's certificate, or one of its chain, ends; null while none was seen. */
  certificado_ate: timestamp.nullable().meta({ 'x-since': '0.4' }),
  ultimas_24h: period,
  ultimos_7d: period,
  /** When the attempts were last counted; null before the first time. */
  contada_em: timestamp.nullable(),
});
export type WebhookHealthResource = z.infer<typeof webhookHealth>;
