/** The variables of archives: where months go, and how an S3 bucket is reached. */
import { z } from 'zod';
import { isTrustworthy } from './registry-settings.ts';

export interface ArchiveSettings {
  /** Null: no key is named, so no bucket can be used. */
  readonly s3: {
    readonly endpoint: string;
    readonly region: string;
    readonly keyId: string;
    readonly secretFile: string;
  } | null;
}

export const ARCHIVE_VARIABLES = {
  ARCHIVE_S3_ENDPOINT: z
    .string()
    .refine(isTrustworthy, 'must be an https URL, or an http URL on the loopback')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  ARCHIVE_S3_REGION: z.string().default('us-east-1'),
  ARCHIVE_S3_KEY_ID: z.string().optional(),
  ARCHIVE_S3_SECRET_FILE: z.string().optional(),
};

/** Each means something only beside the second. */
export const ARCHIVE_NEEDS = [
  ['ARCHIVE_S3_KEY_ID', 'ARCHIVE_S3_SECRET_FILE'],
  ['ARCHIVE_S3_SECRET_FILE', 'ARCHIVE_S3_KEY_ID'],
  ['ARCHIVE_S3_ENDPOINT', 'ARCHIVE_S3_KEY_ID'],
] as const;

export function archiveSettings(values: z.output<z.ZodObject<typeof ARCHIVE_VARIABLES>>): ArchiveSettings {
  const { ARCHIVE_S3_KEY_ID: keyId, ARCHIVE_S3_SECRET_FILE: secretFile, ARCHIVE_S3_REGION: region } = values;
  const endpoint = values.ARCHIVE_S3_ENDPOINT ?? `https://s3.${region}.amazonaws.com`;
  return { s3: keyId === undefined || secretFile === undefined ? null : { endpoint, region, keyId, secretFile } };
}
