/** The variables of archives: where months go, and how an S3 bucket is reached. */
import { z } from 'zod';
import { integerOr, trustedUrl, withoutSlash } from './environment-rules.ts';

export const ARCHIVE_VARIABLES = {
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
