/** `…/webhooks/{id}/credenciais`: what the gateway before a receiver demands. Answers never have a secret. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { HEADER_USER_AGENT } from '../delivery.ts';
import { component, timestamp } from '../values.ts';

export const MAX_HEADERS = 4;
const MAX_HEADER_BYTES = 4_096;
const MAX_PEM = 32_768;

/** RFC 9110, 5.6.2. */
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
/** Visible ASCII, with blanks and tabs within. */
const VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]{0,4094}[\x21-\x7e])?$/;
/** Ours, those of a connection (RFC 9110, 7.6.1), and those that the body or the target decides. */
const OF_THE_CONNECTION =
  'authorization host accept connection keep-alive proxy-connection te trailer upgrade transfer-encoding expect';
const RESERVED: ReadonlySet<string> = new Set([
  ...OF_THE_CONNECTION.split(' '),
  'proxy-authorization',
  'traceparent',
  'tracestate',
  HEADER_USER_AGENT.toLowerCase(),
]);

const isReserved = (name: string) => RESERVED.has(name) || /^(content|x-webhook|x-carteiro|webhook)-/.test(name);

const text = (max: number) => z.string().min(1).max(max);
/** One line: no control character, which a header could not carry. */
const line = (max: number) => text(max).regex(/^[ -~\u00A0-\uFFFF]+$/, 'não pode ter caracteres de controle');

/** A record would drop it without a word. */
function refuseProto(given: unknown, context: z.RefinementCtx): unknown {
  if (typeof given === 'object' && given !== null && Object.hasOwn(given, '__proto__'))
    context.addIssue({ code: 'custom', path: ['__proto__'], message: 'não pode ser o nome de um cabeçalho' });
  return given;
}

const headers = z
  .preprocess(
    refuseProto,
    z.record(
      z.string().regex(NAME, 'não é um nome de cabeçalho'),
      z.string().regex(VALUE, 'não é um valor de cabeçalho'),
    ),
  )
  .superRefine((given, context) => {
    const names = Object.keys(given);
    const bytes = Object.entries(given).reduce((sum, pair) => sum + pair.join(': ').length, 0);
    if (names.length > MAX_HEADERS)
      context.addIssue({ code: 'custom', message: `tem no máximo ${MAX_HEADERS} cabeçalhos` });
    if (bytes > MAX_HEADER_BYTES) context.addIssue({ code: 'custom', message: 'passam de 4 KiB' });
    if (new Set(names.map((name) => name.toLowerCase())).size < names.length)
      context.addIssue({ code: 'custom', message: 'tem um nome repetido' });
    for (const name of names) {
      const message =
        name.toLowerCase() === 'authorization'
          ? 'vai em autorizacao, não em cabecalhos'
          : 'é um cabeçalho do próprio Carteiro ou da conexão';
      if (isReserved(name.toLowerCase())) context.addIssue({ code: 'custom', path: [name], message });
    }
  });

const certificate = z
  .strictObject({ pem: z.string().max(MAX_PEM), chave_pem: z.string().max(MAX_PEM) })
  .superRefine(({ pem, chave_pem }, context) => {
    const fault = certificateFault(pem, chave_pem);
    if (fault !== null) context.addIssue({ code: 'custom', ...fault });
  });

function certificateFault(pem: string, keyPem: string): { path: string[]; message: string } | null {
  let own: X509Certificate;
  try {
    own = new X509Certificate(pem);
  } catch {
    return { path: ['pem'], message: 'não é um certificado em PEM' };
  }
  // A time that is none, or of the year 0.
  if (!(own.validToDate.getTime() >= 0)) return { path: ['pem'], message: 'não diz até quando vale' };
  try {
    if (own.checkPrivateKey(createPrivateKey(keyPem))) return null;
    return { path: ['chave_pem'], message: 'não é a chave desse certificado' };
  } catch {
    return { path: ['chave_pem'], message: 'não é uma chave privada em PEM, sem senha' };
  }
}

/** The schema of `token_url` is that of a webhook's `url`. */
export function webhookCredentials<U extends z.ZodType<string>>(url: U) {
  const authorization = z.discriminatedUnion('tipo', [
    z.strictObject({
      tipo: z.literal('basic'),
      usuario: text(256).regex(/^[ -9;-~\u00A0-\uFFFF]+$/, 'não pode ter dois-pontos nem caracteres de controle'),
      senha: line(1_024),
    }),
    z.strictObject({
      tipo: z.literal('bearer'),
      token: text(4_096).regex(/^[\x21-\x7e]+$/, 'é o token só, sem espaços e sem "Bearer" à frente'),
    }),
    z.strictObject({
      tipo: z.literal('oauth2'),
      token_url: url,
      client_id: line(256),
      client_secret: line(1_024),
      escopo: line(512).optional(),
      audiencia: line(512).optional(),
      envio: z.enum(['basic', 'corpo']),
    }),
  ]);
  return z
    .strictObject({
      cabecalhos: headers.optional(),
      autorizacao: authorization.optional(),
      certificado: certificate.optional(),
    })
    .refine(
      (given) => Object.values(given).some((value) => value !== undefined),
      'informe cabecalhos, autorizacao ou certificado',
    )
    .meta({ minProperties: 1 });
}
export type WebhookCredentials = z.output<ReturnType<typeof webhookCredentials<z.ZodString>>>;

/** Names and kinds; null where nothing of that kind is set. */
export const shownCredentials = component('CredenciaisDoWebhook', {
  cabecalhos: z.array(z.string()),
  autorizacao: z
    .strictObject({
      tipo: z.enum(['basic', 'bearer', 'oauth2']),
      /** Of `oauth2` alone. */
      token_url: z.string().optional(),
      client_id: z.string().optional(),
      escopo: z.string().optional(),
      audiencia: z.string().optional(),
      envio: z.enum(['basic', 'corpo']).optional(),
    })
    .nullable(),
  certificado: z
    .strictObject({ assunto: z.string(), emissor: z.string(), valido_ate: timestamp, sha256: z.string() })
    .nullable(),
});
export type ShownCredentials = z.infer<typeof shownCredentials>;
