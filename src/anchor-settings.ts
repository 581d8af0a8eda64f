/** The variables of the places outside that keep checkpoints. Each place is left out where its variables are absent. */
import { z } from 'zod';
import { baseUrl } from './environment-rules.ts';

export const ANCHOR_VARIABLES = {
  // Authorities answer over http, too: the answer is signed, and the question is a hash.
  ANCHOR_TIMESTAMP_URL: z
    .string()
    .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be an absolute URL')
    .optional(),
  /** Certificates in PEM that the authority's chain must lead to; absent: its own signature is verified alone. */
  ANCHOR_TIMESTAMP_CA_FILE: z.string().optional(),
  /** One line: `basic user:password`, `bearer token`, or `oauth2 URL ID SECRET SCOPE`. */
  ANCHOR_TIMESTAMP_AUTH_FILE: z.string().optional(),
  /** A client certificate and its key, in PEM. */
  ANCHOR_TIMESTAMP_CERT_FILE: z.string().optional(),
  ANCHOR_TIMESTAMP_KEY_FILE: z.string().optional(),
  ANCHOR_DIRECTORY: z
    .string()
    .refine((text) => text.startsWith('/'), 'must be an absolute path')
    .optional(),
  ANCHOR_S3_URL: baseUrl
    .refine((text) => new URL(text).pathname.length > 1, 'must name a bucket in its path')
    .optional(),
  ANCHOR_S3_REGION: z.string().default('us-east-1'),
  ANCHOR_S3_KEY_ID: z.string().optional(),
  ANCHOR_S3_SECRET_FILE: z.string().optional(),
  ANCHOR_WITNESS_URL: baseUrl.optional(),
  ANCHOR_WITNESS_KEY: z
    .string()
    .regex(/^[^\s+]+\+[0-9a-f]{8}\+B[A-P][A-Za-z0-9+/]{42}$/, 'must be a key of cosignatures: name+hash+B…')
    .optional(),
};

/** Each means something only beside the second. */
export const ANCHOR_NEEDS = [
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
] as const;

export type AnchorSettings = ReturnType<typeof anchorSettings>;

export function anchorSettings(values: z.output<z.ZodObject<typeof ANCHOR_VARIABLES>>) {
  const { ANCHOR_TIMESTAMP_URL: stampUrl, ANCHOR_S3_URL: s3Url, ANCHOR_WITNESS_URL: witnessUrl } = values;
  const { ANCHOR_S3_KEY_ID: keyId, ANCHOR_S3_SECRET_FILE: secretFile, ANCHOR_WITNESS_KEY: key } = values;
  const isBucket = s3Url !== undefined && keyId !== undefined && secretFile !== undefined;
  const authorization = {
    authFile: values.ANCHOR_TIMESTAMP_AUTH_FILE ?? null,
    certFile: values.ANCHOR_TIMESTAMP_CERT_FILE ?? null,
    keyFile: values.ANCHOR_TIMESTAMP_KEY_FILE ?? null,
  };
  const rootsFile = values.ANCHOR_TIMESTAMP_CA_FILE ?? null;
  return {
    timestamp: stampUrl === undefined ? null : { url: stampUrl, rootsFile, authorization },
    directory: values.ANCHOR_DIRECTORY ?? null,
    bucket: isBucket ? { url: s3Url, region: values.ANCHOR_S3_REGION, keyId, secretFile } : null,
    witness: witnessUrl !== undefined && key !== undefined ? { url: witnessUrl, key } : null,
  };
}

export function hasAnchors(settings: AnchorSettings): boolean {
  return Object.values(settings).some((anchor) => anchor !== null);
}
