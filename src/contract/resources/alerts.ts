/** Where a partner's people are told of their webhooks, and what they were told. */
import { z } from 'zod';
import { hasNoCpf, NO_CPF } from '../masking/cpf.ts';
import { ALERT_CHANNELS, ALERT_KINDS } from '../statuses.ts';
import { component, id, shown, timestamp } from '../values.ts';

const EXAMPLE = { examples: ['plantao@parceiro.example.com'] };
const ADDRESS = 'deve ser um endereço de e-mail';
const LABEL = '[A-Za-z0-9][A-Za-z0-9-]{0,62}';
/** Of what RFC 5321 allows, what people have; no look-around: many engines have none. */
const email = z
  .string(ADDRESS)
  .max(254, 'tem no máximo 254 caracteres')
  .regex(new RegExp(String.raw`^[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}@${LABEL}(?:\.${LABEL}){1,4}$`), ADDRESS)
  .refine(hasNoCpf, NO_CPF)
  .meta(EXAMPLE);

/** Null: nobody is told there, and so an address that is left out; a URL that is left out stays, because nobody reads it again. */
export function alertAddresses<U extends z.ZodType<string>>(url: U) {
  return z.strictObject({ email: email.nullable().default(null), slack_url: url.nullable().optional() });
}

export const alertCode = z.strictObject({
  codigo: shown(z.string().regex(/^\d{8}$/, 'deve ter 8 dígitos'), '04711234'),
});

export const alertSettings = component('Avisos', {
  email: z.string().meta(EXAMPLE).nullable(),
  /** False: the address has only been sent its code. */
  email_confirmado: z.boolean(),
  /** Its origin alone: the rest is a secret of the chat's. */
  slack: shown(z.string(), 'https://hooks.slack.com').nullable(),
  slack_confirmado: z.boolean(),
  /** False: the operator has set no mail server. */
  email_disponivel: z.boolean(),
  avisos: z.array(
    component('Aviso', {
      tipo: z.enum(ALERT_KINDS),
      canal: z.enum(ALERT_CHANNELS),
      webhook_id: id.nullable(),
      criado_em: timestamp,
      enviado_em: timestamp.nullable(),
      tentativas: z.int().meta({ examples: [1] }),
      erro: z.string().nullable(),
    }),
  ),
  /** When the addresses were changed or confirmed, and by whom, the newest first. */
  mudancas: z.array(z.strictObject({ mudou_em: timestamp, autor: z.string() })),
});
export type AlertSettings = z.infer<typeof alertSettings>;
