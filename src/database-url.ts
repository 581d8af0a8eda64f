/** What a database's URL may say, and what it says of TLS. */
import { z } from 'zod';
import { flag, identifier } from './environment-rules.ts';

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;

/** `sslmode` and `sslrootcert` mean what they mean to psql. */
export interface UrlTls {
  readonly mode: (typeof SSL_MODES)[number] | null;
  /** The file of the authority's certificate; null for the public authorities. */
  readonly authority: string | null;
}

/** Modes that verify the server's certificate. */
export function isVerifying(mode: UrlTls['mode']): boolean {
  return mode === 'verify-ca' || mode === 'verify-full';
}

/** Nothing for a URL of several hosts, which is no URL to Node: the driver reads those by itself. */
export function readTls(url: string): UrlTls {
  if (!URL.canParse(url)) return { mode: null, authority: null };
  const { searchParams } = new URL(url);
  const authority = searchParams.get('sslrootcert');
  return {
    mode: searchParams.get('sslmode') as UrlTls['mode'],
    authority: authority === '' || authority === 'system' ? null : authority,
  };
}

function hasKnownMode(url: string): boolean {
  const { mode } = readTls(url);
  return mode === null || SSL_MODES.includes(mode);
}

function usesAuthority(url: string): boolean {
  const isNamed = URL.canParse(url) && (new URL(url).searchParams.get('sslrootcert') ?? '') !== '';
  return !isNamed || isVerifying(readTls(url).mode);
}

const databaseUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\/\S+$/, 'must be a postgres:// URL')
  .refine(hasKnownMode, `sslmode in it must be one of ${SSL_MODES.join(', ')}`)
  .refine(usesAuthority, 'sslrootcert in it needs sslmode=verify-full or verify-ca beside it');

export const DATABASE_VARIABLES = {
  /** Absent: the embedded PostgreSQL under DATA_DIR. */
  DATABASE_URL: databaseUrl.optional(),
  /** For migrations and advisory locks: DATABASE_URL, or the way around its pooler. */
  DIRECT_DATABASE_URL: databaseUrl.optional(),
  /** Holds everything that Carteiro makes; `<schema>_auditoria` beside it the auditors' views. */
  DATABASE_SCHEMA: identifier.default('carteiro'),
  /** The roles are `<prefix>_owner`, `<prefix>_app` and so on. */
  DATABASE_ROLE_PREFIX: identifier.default('carteiro'),
  /** Prepared statements; false behind a pooler in transaction mode. */
  DATABASE_PREPARE: flag.default(true),
};

export const READING_VARIABLES = {
  READ_DATABASE_URL: databaseUrl.optional(),
  /** True: reports are read on the primary while the standby is away; else they are 503. */
  READ_DATABASE_FALLBACK: flag.default(true),
};

export function readingSettings(values: z.output<z.ZodObject<typeof READING_VARIABLES>>) {
  const { READ_DATABASE_URL: url, READ_DATABASE_FALLBACK: fallsBack } = values;
  return url === undefined ? null : { url, fallsBack };
}
