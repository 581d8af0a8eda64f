/** The variables of what leaves for partners: whence it comes, through which proxy, how it shows itself, and what is kept of its answer. */
import { z } from 'zod';
import { flag, integer, isSubnet } from './environment-rules.ts';

const MAX_ADDRESSES = 64;
/** More of an answer is not read (contract/delivery). */
const MAX_KEPT_BYTES = 8_192;

const addresses = z
  .string()
  .transform((text) => text.split(',').map((address) => address.trim()))
  .refine(
    (list) => list.length <= MAX_ADDRESSES && list.every(isSubnet),
    `must be addresses or subnets (203.0.113.0/28) separated by commas, at most ${MAX_ADDRESSES}`,
  );

/** A server alone, `http://proxy:3128`; who we are to it stands in a file. */
function serverUrl(scheme: 'http' | 'smtp', authFile: string) {
  const server = new RegExp(`^${scheme}s?://[^/?#@\\s]+/?$`);
  return z
    .string()
    .refine(
      (text) => server.test(text) && URL.canParse(text),
      `must be ${scheme}:// or ${scheme}s:// with a host and a port alone; a user and a password belong in ${authFile}`,
    );
}

const file = z.string().optional();

export const EGRESS_VARIABLES = {
  /** The addresses and subnets from which POSTs come, as partners are told them. */
  EGRESS_IPS: addresses.optional(),
  EGRESS_PROXY_URL: serverUrl('http', 'EGRESS_PROXY_AUTH_FILE').optional(),
  /** A file of one line, `user:password`, as SMTP_AUTH_FILE. */
  EGRESS_PROXY_AUTH_FILE: file,
  /** True: the proxy looks names up, and vouches that they lead to no private address. */
  EGRESS_PROXY_RESOLVES: flag.default(false),
  /** The client certificate that receivers may ask for, its key, and authorities trusted beside the built-in ones. */
  EGRESS_CERT_FILE: file,
  EGRESS_KEY_FILE: file,
  EGRESS_CA_FILE: file,
  /** Whether a URL must take our deliveries by the handshake of CloudEvents before a webhook may have it. */
  WEBHOOK_HANDSHAKE: flag.default(false),
  /** Bytes kept of an answer's body; 0 keeps neither body nor headers. */
  KEPT_ANSWER_BYTES: integer(0, MAX_KEPT_BYTES).default(MAX_KEPT_BYTES),
  /** The server that takes e-mails to people of partners: `smtp:`, or `smtps:` for TLS from the first byte. */
  SMTP_URL: serverUrl('smtp', 'SMTP_AUTH_FILE')
    .transform((text) => new URL(text))
    .optional(),
  SMTP_AUTH_FILE: file,
  SMTP_FROM: z.email('must be an e-mail address').optional(),
};

export type EgressSettings = ReturnType<typeof egressSettings>;
export type EgressProxy = NonNullable<EgressSettings['proxy']>;

export function egressSettings(values: z.output<z.ZodObject<typeof EGRESS_VARIABLES>>) {
  const { EGRESS_PROXY_URL: url, EGRESS_PROXY_RESOLVES: resolves } = values;
  const authFile = values.EGRESS_PROXY_AUTH_FILE ?? null;
  return {
    addresses: values.EGRESS_IPS ?? [],
    proxy: url === undefined ? null : { url, authFile, resolves },
    certFile: values.EGRESS_CERT_FILE ?? null,
    keyFile: values.EGRESS_KEY_FILE ?? null,
    caFile: values.EGRESS_CA_FILE ?? null,
    mail:
      values.SMTP_URL === undefined || values.SMTP_FROM === undefined
        ? null
        : { url: values.SMTP_URL, authFile: values.SMTP_AUTH_FILE ?? null, from: values.SMTP_FROM },
    handshake: values.WEBHOOK_HANDSHAKE,
    keptAnswerBytes: values.KEPT_ANSWER_BYTES,
  };
}
