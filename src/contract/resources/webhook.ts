/** A webhook on the wire. */
import { z } from 'zod';
import { RESERVED_NAMES, SUBSCRIBABLE_NAMES } from '../events.ts';
import { hasNoCpf, NO_CPF } from '../masking/cpf.ts';
import { DELIVERY_ORDERS, WEBHOOK_CHANGES } from '../statuses.ts';
import { component, id, shown, text, timestamp } from '../values.ts';
import { webhookHealth } from './webhook-health.ts';

export const MAX_ACTIVE_WEBHOOKS = 50;
export const MAX_URL_LENGTH = 2_048;
/** The most hours that a new secret may wait before it signs. */
export const MAX_WAIT_H = 24;

const eventName = z
  .enum(SUBSCRIBABLE_NAMES, {
    error: ({ input }) =>
      RESERVED_NAMES.some((name) => name === input)
        ? `${String(input)} é um nome reservado, nunca emitido`
        : 'nome de evento desconhecido',
  })
  .meta({ id: 'NomeDeEvento' });

/** At least one name, each at most once; the order given is kept. */
export const eventNames = z
  .array(eventName)
  .min(1, 'deve ter ao menos um evento')
  .max(SUBSCRIBABLE_NAMES.length, `tem no máximo ${SUBSCRIBABLE_NAMES.length} eventos`)
  .superRefine((names, context) => {
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) < index)
        context.addIssue({ code: 'custom', path: [index], message: `${name} está repetido` });
    }
  })
  .meta({ uniqueItems: true });

/** The schema of `url` checks and normalises it; it depends on `ALLOW_INSECURE_TARGETS`. */
export function createWebhook<U extends z.ZodType<string>>(url: U) {
  return z.strictObject({ url, eventos: eventNames });
}

/** A change of a webhook. `retomar` sends its suspended deliveries, and is allowed only beside `ativo: true`. */
export function changeWebhook<U extends z.ZodType<string>>(url: U) {
  return z
    .strictObject({
      url: url.optional(),
      eventos: eventNames.optional(),
      ativo: z.boolean().optional(),
      retomar: z.boolean().optional(),
    })
    .refine((change) => Object.values(change).some((value) => value !== undefined), 'deve ter ao menos um campo')
    .refine((change) => change.retomar !== true || change.ativo === true, {
      path: ['retomar'],
      message: 'só pode vir com ativo: true',
    })
    .meta({
      minProperties: 1,
      if: { properties: { retomar: { const: true } }, required: ['retomar'] },
      // oxlint-disable-next-line unicorn/no-thenable -- JSON Schema's word
      then: { properties: { ativo: { const: true } }, required: ['ativo'] },
    });
}

export const webhook = component('Webhook', {
  id,
  url: z.string(),
  eventos: z.array(eventName),
  ativo: z.boolean(),
  criado_em: timestamp,
});
export type WebhookResource = z.infer<typeof webhook>;

/** `saude` is there where the list was asked to include it. */
export const listedWebhook = webhook.extend({ saude: webhookHealth.optional() }).meta({ id: 'WebhookDaLista' });
export type ListedWebhook = z.infer<typeof listedWebhook>;

/** What happened to a webhook, the newest line first; each shows what it was from then on. */
export const webhookHistory = z.strictObject({
  itens: z.array(
    component('MudancaDoWebhook', {
      mudou_em: timestamp,
      mudanca: z.enum(WEBHOOK_CHANGES),
      /** The `sub` of the partner's token, `operador` or `servico`. */
      autor: z.string(),
      url: z.string(),
      eventos: z.array(eventName),
      ativo: z.boolean(),
    }),
  ),
  proximo_cursor: z.string().nullable(),
});
export type WebhookHistory = z.infer<typeof webhookHistory>;

/** The creation answer: the only place where `secret` is ever shown. */
export const createdWebhook = webhook.extend({ secret: z.string().optional() }).meta({
  id: 'WebhookCriado',
  text: {
    pt: 'O secret vem só na primeira resposta; a repetição pela Idempotency-Key não o traz',
    en: 'The secret comes in the first answer alone; a repetition by the Idempotency-Key does not bring it',
  },
});

/** A rotation: the new secret signs from `vale_em` on, at most {@link MAX_WAIT_H} hours ahead; without it, at once. */
export const rotateSecret = z.strictObject({
  vale_em: z.iso
    .datetime({ offset: true, error: 'deve ser um instante ISO 8601 com fuso, como 2026-01-31T12:00:00Z' })
    .transform((text) => new Date(text))
    .optional()
    .meta({ 'x-since': '0.2' }),
});

/** The rotation's answer, and its repetition by the Idempotency-Key: the only places where the new `secret` is shown. */
export const rotatedSecret = z
  .strictObject({
    id,
    secret: z.string().optional(),
    /** The new secret signs from this instant on; until then the old one signs alone. */
    vale_em: timestamp,
    /** The old secret signs too until this instant. */
    anterior_ate: timestamp,
  })
  .meta({
    id: 'SecretTrocado',
    text: {
      pt: 'A repetição pela Idempotency-Key traz o secret por 60 s; depois disso vem sem ele',
      en: 'A repetition by the Idempotency-Key brings the secret for 60 s; after that it comes without it',
    },
  });

/** Where a rotation stands: times, and never a secret. */
export const secretState = component('EstadoDoSecret', {
  id,
  /** A new secret waits, and signs from then on; null when none waits. */
  vale_em: timestamp.nullable(),
  /** The secret before the newest signs beside it until then; null when the newest signs alone. */
  anterior_ate: timestamp.nullable(),
});
export type SecretState = z.infer<typeof secretState>;

/** The answer when a waiting secret is made to sign. */
export const activatedSecret = z.strictObject({ id, anterior_ate: timestamp });

const rotulo = shown(text(80).refine(hasNoCpf, NO_CPF), 'Produção, averbações').nullable().meta({ 'x-since': '0.4' });

export const webhookOptions = component('OpcoesDoWebhook', { ordem: z.enum(DELIVERY_ORDERS), rotulo });

/** What is left out stays as it is. */
export const webhookOptionChanges = z
  .strictObject({ ordem: z.enum(DELIVERY_ORDERS).optional(), rotulo: rotulo.optional() })
  .refine(({ ordem, rotulo: label }) => ordem !== undefined || label !== undefined, {
    message: 'informe ordem, rotulo ou ambos',
    path: ['ordem'],
  })
  .meta({ minProperties: 1 });
