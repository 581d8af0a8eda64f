/**
 * Variables of what lies outside: the registry's bridge, the places that keep checkpoints, archives, and what leaves for partners and their
 * people. A place without its variables is left out.
 */
import { z } from 'zod';
import { baseUrl, flag, integer, integerOr, isSubnet, trustedUrl, webUrl, withoutSlash } from './environment-rules.ts';

const file = z.string().optional();

export const REGISTRY_VARIABLES = {
  REGISTRY_URL: baseUrl.optional(),
  REGISTRY_TOKEN_FILE: file,
  REGISTRY_CERT_FILE: file,
  REGISTRY_KEY_FILE: file,
  REGISTRY_CA_FILE: file,
  REGISTRY_TIMEOUT_SECONDS: integer(1, 60).default(10),
  REGISTRY_CONCURRENCY: integer(1, 1_000).default(16),
};

type RegistryValues = z.output<z.ZodObject<typeof REGISTRY_VARIABLES>>;
/** `token` is for a bridge of this process's own. */
export type RegistrySettings = ReturnType<typeof registrySettings> & { readonly token?: string };

/** `url` has no trailing slash. */
export function registrySettings(url: string, values: Omit<RegistryValues, 'REGISTRY_URL'>) {
  return {
    url,
    tokenFile: values.REGISTRY_TOKEN_FILE ?? null,
    certFile: values.REGISTRY_CERT_FILE ?? null,
    keyFile: values.REGISTRY_KEY_FILE ?? null,
    caFile: values.REGISTRY_CA_FILE ?? null,
    timeoutS: values.REGISTRY_TIMEOUT_SECONDS,
    concurrency: values.REGISTRY_CONCURRENCY,
  };
}

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

/** A server alone, `http://proxy:3128`; credentials are in a file. */
function serverUrl(scheme: 'http' | 'smtp', authFile: string) {
  const server = new RegExp(`^${scheme}s?://[^/?#@\\s]+/?$`);
  return z
    .string()
    .refine(
      (text) => server.test(text) && URL.canParse(text),
      `must be ${scheme}:// or ${scheme}s:// with a host and a port alone; a user and a password belong in ${authFile}`,
    );
}

export const OUTSIDE_VARIABLES = {
  // http is allowed: the authority's answer is signed, and the question is a hash.
  ANCHOR_TIMESTAMP_URL: webUrl.optional(),
  /** PEM certificates that the authority's chain must lead to; absent: only its own signature is verified. */
  ANCHOR_TIMESTAMP_CA_FILE: file,
  /** One line: `basic user:password`, `bearer token`, or `oauth2 URL ID SECRET SCOPE`. */
  ANCHOR_TIMESTAMP_AUTH_FILE: file,
  /** A client certificate and its key, in PEM. */
  ANCHOR_TIMESTAMP_CERT_FILE: file,
  ANCHOR_TIMESTAMP_KEY_FILE: file,
  ANCHOR_DIRECTORY: z
    .string()
    .refine((text) => text.startsWith('/'), 'must be an absolute path')
    .optional(),
  ANCHOR_S3_URL: baseUrl
    .refine((text) => new URL(text).pathname.length > 1, 'must name a bucket in its path')
    .optional(),
  ANCHOR_S3_REGION: z.string().default('us-east-1'),
  ANCHOR_S3_KEY_ID: z.string().optional(),
  ANCHOR_S3_SECRET_FILE: file,
  ANCHOR_WITNESS_URL: baseUrl.optional(),
  ANCHOR_WITNESS_KEY: z
    .string()
    .regex(/^[^\s+]+\+[0-9a-f]{8}\+B[A-P][A-Za-z0-9+/]{42}$/, 'must be a key of cosignatures: name+hash+B…')
    .optional(),
  /** After how many months, and where, `maintain` moves a month; without them everything stays. */
  KEEP_MONTHS: integerOr('all', 1, 1_200).optional(),
  ARCHIVE_TO: z
    .string()
    .refine((text) => /^(\/|s3:\/\/[a-z0-9])/.test(text), 'must be an absolute path, or s3://bucket/prefix')
    .optional(),
  ARCHIVE_S3_ENDPOINT: trustedUrl.transform(withoutSlash).optional(),
  ARCHIVE_S3_REGION: z.string().default('us-east-1'),
  /** Absent: no bucket can be used. */
  ARCHIVE_S3_KEY_ID: z.string().optional(),
  ARCHIVE_S3_SECRET_FILE: file,
  /** The addresses and subnets of our POSTs, as partners are told. */
  EGRESS_IPS: addresses.default([]),
  EGRESS_PROXY_URL: serverUrl('http', 'EGRESS_PROXY_AUTH_FILE').optional(),
  /** One line, `user:password`, as SMTP_AUTH_FILE. */
  EGRESS_PROXY_AUTH_FILE: file,
  /** The proxy resolves names, and vouches that they lead to no private address. */
  EGRESS_PROXY_RESOLVES: flag.default(false),
  /** The client certificate for receivers, its key, and authorities trusted beside the built-in ones. */
  EGRESS_CERT_FILE: file,
  EGRESS_KEY_FILE: file,
  EGRESS_CA_FILE: file,
  /** Whether a URL must accept our deliveries by CloudEvents' handshake before a webhook may have it. */
  WEBHOOK_HANDSHAKE: flag.default(false),
  /** Bytes kept of an answer's body; 0 keeps neither body nor headers. */
  KEPT_ANSWER_BYTES: integer(0, MAX_KEPT_BYTES).default(MAX_KEPT_BYTES),
  /** For e-mails to partners' people: `smtp:`, or `smtps:` for TLS from the first byte. */
  SMTP_URL: serverUrl('smtp', 'SMTP_AUTH_FILE')
    .transform((text) => new URL(text))
    .optional(),
  SMTP_AUTH_FILE: file,
  SMTP_FROM: z.email('must be an e-mail address').optional(),
};

export const NEEDS = [
  ['REGISTRY_CERT_FILE', 'REGISTRY_KEY_FILE'],
  ['REGISTRY_KEY_FILE', 'REGISTRY_CERT_FILE'],
  ['SMTP_URL', 'SMTP_FROM'],
  ['SMTP_FROM', 'SMTP_URL'],
  ['SMTP_AUTH_FILE', 'SMTP_URL'],
  ['EGRESS_CERT_FILE', 'EGRESS_KEY_FILE'],
  ['EGRESS_KEY_FILE', 'EGRESS_CERT_FILE'],
  ['EGRESS_PROXY_AUTH_FILE', 'EGRESS_PROXY_URL'],
  ['EGRESS_PROXY_RESOLVES', 'EGRESS_PROXY_URL'],
  ['OPERATOR_WEBHOOK_URL', 'OPERATOR_WEBHOOK_SECRET'],
  ['OPERATOR_WEBHOOK_SECRET', 'OPERATOR_WEBHOOK_URL'],
  ['ANCHOR_TIMESTAMP_CA_FILE', 'ANCHOR_TIMESTAMP_URL'],
  ['ANCHOR_TIMESTAMP_AUTH_FILE', 'ANCHOR_TIMESTAMP_URL'],
  ['ANCHOR_TIMESTAMP_CERT_FILE', 'ANCHOR_TIMESTAMP_KEY_FILE'],
  ['ANCHOR_TIMESTAMP_KEY_FILE', 'ANCHOR_TIMESTAMP_CERT_FILE'],
  ['ANCHOR_TIMESTAMP_CERT_FILE', 'ANCHOR_TIMESTAMP_URL'],
  ['ANCHOR_S3_URL', 'ANCHOR_S3_KEY_ID'],
  ['ANCHOR_S3_KEY_ID', 'ANCHOR_S3_SECRET_FILE'],
  ['ANCHOR_S3_SECRET_FILE', 'ANCHOR_S3_URL'],
  ['ANCHOR_WITNESS_URL', 'ANCHOR_WITNESS_KEY'],
  ['ANCHOR_WITNESS_KEY', 'ANCHOR_WITNESS_URL'],
  ['KEEP_MONTHS', 'ARCHIVE_TO'],
  ['ARCHIVE_S3_KEY_ID', 'ARCHIVE_S3_SECRET_FILE'],
  ['ARCHIVE_S3_SECRET_FILE', 'ARCHIVE_S3_KEY_ID'],
  ['ARCHIVE_S3_ENDPOINT', 'ARCHIVE_S3_KEY_ID'],
] as const;
