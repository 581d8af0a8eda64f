/** The variables of archives: where months go, and how an S3 bucket is reached. */
import { z } from 'zod';
import { isTrustworthy } from './registry-settings.ts';

const MOST_MONTHS = 1_200;

export const ARCHIVE_VARIABLES = {
  /** After how many months, and where, `maintain` moves a month; without them everything stays. */
  KEEP_MONTHS: z
    .string()
    .refine(
      (text) => text === 'all' || (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= MOST_MONTHS),
      `must be an integer from 1 to ${MOST_MONTHS}, or all`,
    )
    .transform((text) => (text === 'all' ? null : Number(text)))
    .optional(),
  ARCHIVE_TO: z
    .string()
    .refine((text) => /^(\/|s3:\/\/[a-z0-9])/.test(text), 'must be an absolute path, or s3://bucket/prefix')
    .optional(),
  ARCHIVE_S3_ENDPOINT: z
    .string()
    .refine(isTrustworthy, 'must be an https URL, or an http URL on the loopback')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  ARCHIVE_S3_REGION: z.string().default('us-east-1'),
  /** Absent: no bucket can be used. */
  ARCHIVE_S3_KEY_ID: z.string().optional(),
  ARCHIVE_S3_SECRET_FILE: z.string().optional(),
};

/** Each means something only beside the second. */
export const ARCHIVE_NEEDS = [
  ['KEEP_MONTHS', 'ARCHIVE_TO'],
  ['ARCHIVE_S3_KEY_ID', 'ARCHIVE_S3_SECRET_FILE'],
  ['ARCHIVE_S3_SECRET_FILE', 'ARCHIVE_S3_KEY_ID'],
  ['ARCHIVE_S3_ENDPOINT', 'ARCHIVE_S3_KEY_ID'],
] as const;

export function archiveSettings(values: z.output<z.ZodObject<typeof ARCHIVE_VARIABLES>>) {
  const { ARCHIVE_S3_KEY_ID: keyId, ARCHIVE_S3_SECRET_FILE: secretFile, ARCHIVE_S3_REGION: region } = values;
  const endpoint = values.ARCHIVE_S3_ENDPOINT ?? `https://s3.${region}.amazonaws.com`;
  const { KEEP_MONTHS: keepMonths = null, ARCHIVE_TO: to } = values;
  const upkeep = keepMonths === null || to === undefined ? null : { keepMonths, to };
  return {
    upkeep,
    s3: keyId === undefined || secretFile === undefined ? null : { endpoint, region, keyId, secretFile },
  };
}
