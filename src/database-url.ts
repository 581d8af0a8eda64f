/**
 * A database's URL, read as libpq reads it (PostgreSQL, "Connection URIs"). A parameter is obeyed or refused by name: a silently dropped
 * one would use another server or identity than the operator believes.
 */
import { z } from 'zod';
import { flag, identifier } from './environment-rules.ts';

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
const WANTED = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;
const DEFAULT_PORT = '5432';

/** The kind of server wanted (`target_session_attrs`). */
export type WantedServer = (typeof WANTED)[number];

/** Files are read at each connect. */
export interface UrlTls {
  readonly mode: (typeof SSL_MODES)[number] | null;
  /** The authority's certificate file; null for the public authorities. */
  readonly authority: string | null;
  readonly certificate: string | null;
  readonly key: string | null;
  readonly keyPassword: string | null;
  /** TLS at once, without negotiation. */
  readonly isDirect: boolean;
}

export interface DatabaseHost {
  /** A name, an address, or the folder of a Unix socket. */
  readonly name: string;
  readonly port: number;
}

/** What a URL says; null where it says nothing: the driver then uses PGUSER and PGPASSWORD. */
export interface DatabasePlace {
  /** Tried in order. */
  readonly hosts: readonly DatabaseHost[];
  readonly user: string | null;
  readonly password: string | null;
  /** A libpq file of passwords, read at each connect. */
  readonly passfile: string | null;
  readonly database: string | null;
  readonly tls: UrlTls;
  readonly wanted: WantedServer;
  /** Per host; null: our default. */
  readonly connectTimeoutS: number | null;
  readonly applicationName: string | null;
  /** Settings as `-c name=value`. */
  readonly options: string | null;
}

const oneOf = (allowed: readonly string[]) => (value: string) =>
  allowed.includes(value) ? null : `must be one of ${allowed.join(', ')}`;
const any = () => null;

/** Each obeyed parameter, with what is wrong with a value. */
const PARAMETERS: Readonly<Record<string, (value: string) => string | null>> = {
  host: any,
  port: (value) => (/^\d{1,5}(,\d{1,5})*$/.test(value) ? null : 'must be one number, or one for each host'),
  dbname: any,
  user: any,
  password: any,
  passfile: any,
  sslmode: oneOf(SSL_MODES),
  ssl: oneOf(['true']),
  sslrootcert: any,
  sslcert: any,
  sslkey: any,
  sslpassword: any,
  sslnegotiation: oneOf(['postgres', 'direct']),
  // The driver cannot bind a password to the channel; that matters only where it is required.
  channel_binding: (value) =>
    value === 'require'
      ? 'cannot be "require": take it out, and let sslmode=verify-full show who the server is'
      : oneOf(['disable', 'prefer'])(value),
  target_session_attrs: oneOf(WANTED),
  connect_timeout: (value) => (/^\d{1,4}$/.test(value) ? null : 'must be a number of seconds'),
  application_name: any,
  fallback_application_name: any,
  options: any,
  // These ask for nothing but what is done.
  gssencmode: oneOf(['disable', 'prefer']),
  load_balance_hosts: oneOf(['disable']),
  client_encoding: oneOf(['UTF8', 'utf8', 'auto']),
  sslsni: oneOf(['1']),
  sslcompression: oneOf(['0']),
};

export function isVerifying(mode: UrlTls['mode']): boolean {
  return mode === 'verify-ca' || mode === 'verify-full';
}

const FORM = /^postgres(?:ql)?:\/\/(?:([^/?#@\s]*)@)?([^/?#@\s]*)(?:\/([^?#\s]*))?(?:\?([^#\s]*))?$/;

/** What `url` says, or its fault without values: a password may be in the wrong place. */
export function readDatabaseUrl(url: string): DatabasePlace | { readonly fault: string } {
  try {
    return readParts(url);
  } catch (error) {
    if (error instanceof URIError) return { fault: 'has a % that begins no character: write %25 for it' };
    throw error;
  }
}

function readParts(url: string): DatabasePlace | { readonly fault: string } {
  const [whole, login = '', hostsAndPorts = '', path = '', query = ''] = FORM.exec(url) ?? [];
  if (whole === undefined) return { fault: 'must be a postgres:// URL' };
  const said = new Map<string, string>();
  const say = (name: string, value: string) => void (value !== '' && said.set(name, decodeURIComponent(value)));
  const [, user = '', password = ''] = /^([^:]*):?(.*)/s.exec(login) ?? [];
  say('user', user);
  say('password', password);
  say('dbname', path);
  const places = hostsAndPorts.split(',').map((place) => /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(place));
  say('host', places.map((place) => (place?.[1] ?? '').replace(/^\[(.*)\]$/, '$1')).join(','));
  say('port', places.some((place) => place?.[2]) ? places.map((place) => place?.[2] || DEFAULT_PORT).join(',') : '');
  for (const pair of query.split('&').filter((text) => text !== '')) {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)/s.exec(pair) ?? [];
    say(decodeURIComponent(name), value);
  }
  for (const [name, value] of said) {
    const judge = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined;
    if (judge === undefined) return { fault: `${name.slice(0, 40)} in it is not obeyed here: take it out` };
    const fault = judge(value);
    if (fault !== null) return { fault: `${name} in it ${fault}` };
  }
  return placeOf(said);
}

function placeOf(said: ReadonlyMap<string, string>): DatabasePlace | { readonly fault: string } {
  const of = (name: string) => said.get(name) ?? null;
  const names = (of('host') ?? '').split(',');
  const ports = (of('port') ?? DEFAULT_PORT).split(',');
  if (names.includes('')) return { fault: 'names no host: the folder of a Unix socket is ?host=/var/run/postgresql' };
  if (ports.length !== 1 && ports.length !== names.length) {
    return { fault: 'port in it must be one number, or one for each host' };
  }
  const mode = (of('sslmode') ?? (of('ssl') === null ? null : 'require')) as UrlTls['mode'];
  if (of('sslrootcert') !== null && !isVerifying(mode)) {
    return { fault: 'sslrootcert in it needs sslmode=verify-full or verify-ca beside it' };
  }
  if ((of('sslcert') === null) !== (of('sslkey') === null)) {
    return { fault: 'sslcert and sslkey in it need each other' };
  }
  return {
    hosts: names.map((name, i) => ({ name, port: Number(ports[i] ?? ports[0]) })),
    user: of('user'),
    password: of('password'),
    passfile: of('passfile'),
    database: of('dbname'),
    tls: {
      mode,
      authority: of('sslrootcert') === 'system' ? null : of('sslrootcert'),
      certificate: of('sslcert'),
      key: of('sslkey'),
      keyPassword: of('sslpassword'),
      isDirect: of('sslnegotiation') === 'direct',
    },
    wanted: (of('target_session_attrs') ?? 'any') as WantedServer,
    connectTimeoutS: Number(of('connect_timeout') ?? 0) || null,
    applicationName: of('application_name'),
    options: of('options'),
  };
}

const databaseUrl = z.string().superRefine((url, context) => {
  const read = readDatabaseUrl(url);
  if ('fault' in read) context.addIssue(read.fault);
});

export const DATABASE_VARIABLES = {
  /** Absent: the embedded PostgreSQL under DATA_DIR. */
  DATABASE_URL: databaseUrl.optional(),
  /** For migrations and advisory locks: DATABASE_URL, or the way around its pooler. */
  DIRECT_DATABASE_URL: databaseUrl.optional(),
  /** Holds everything that Carteiro makes; `<schema>_auditoria` holds the auditors' views. */
  DATABASE_SCHEMA: identifier.default('carteiro'),
  /** The roles are `<prefix>_owner`, `<prefix>_app` and so on. */
  DATABASE_ROLE_PREFIX: identifier.default('carteiro'),
  /** Prepared statements; false behind a pooler in transaction mode. */
  DATABASE_PREPARE: flag.default(true),
};

export const READING_VARIABLES = {
  READ_DATABASE_URL: databaseUrl.optional(),
  /** Reports are read on the primary while the standby is away; otherwise they are 503. */
  READ_DATABASE_FALLBACK: flag.default(true),
};

export function readingSettings(values: z.output<z.ZodObject<typeof READING_VARIABLES>>) {
  const { READ_DATABASE_URL: url, READ_DATABASE_FALLBACK: fallsBack } = values;
  return url === undefined ? null : { url, fallsBack };
}
