/**
 * A database's URL, read as libpq reads it (PostgreSQL, "Connection URIs"). A parameter is obeyed or refused by name: a silently dropped
 * one would use another server or identity than the operator believes.
 */
import { z } from 'zod';
import { flag, identifier } from './environment-rules.ts';

const DEFAULT_PORT = '5432';

const any = z.string().optional();
const oneOf = <const W extends readonly string[]>(words: W) =>
  z.enum(words, `must be one of ${words.join(', ')}`).optional();

/** Each obeyed parameter. */
const PARAMETERS = z.object({
  host: any,
  port: z
    .string()
    .regex(/^\d{1,5}(,\d{1,5})*$/, { error: 'must be one number, or one for each host', abort: true })
    .refine(
      (ports) => ports.split(',').every((port) => Number(port) >= 1 && Number(port) <= 65_535),
      'must be from 1 to 65535',
    )
    .default(DEFAULT_PORT),
  dbname: any,
  user: any,
  password: any,
  passfile: any,
  sslmode: oneOf(['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']),
  ssl: oneOf(['true']),
  sslrootcert: any,
  sslcert: any,
  sslkey: any,
  sslpassword: any,
  sslnegotiation: oneOf(['postgres', 'direct']),
  // The driver cannot bind a password to the channel; that matters only where it is required.
  channel_binding: any
    .refine((value) => value !== 'require', {
      error: 'cannot be "require": take it out, and let sslmode=verify-full show who the server is',
      abort: true,
    })
    .pipe(oneOf(['disable', 'prefer'])),
  target_session_attrs: oneOf(['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby']),
  connect_timeout: z
    .string()
    .regex(/^\d{1,4}$/, 'must be a number of seconds')
    .optional(),
  application_name: any,
  fallback_application_name: any,
  options: any,
  // These ask for nothing but what is done.
  gssencmode: oneOf(['disable', 'prefer']),
  load_balance_hosts: oneOf(['disable']),
  client_encoding: oneOf(['UTF8', 'utf8', 'auto']),
  sslsni: oneOf(['1']),
  sslcompression: oneOf(['0']),
});

/** What a URL says; null where it says nothing: the driver then uses PGUSER and PGPASSWORD. Files are read at each connect. */
export type DatabasePlace = ReturnType<typeof placeOf>;
/** A name, an address, or the folder of a Unix socket, with its port. */
export type DatabaseHost = DatabasePlace['hosts'][number];
export type UrlTls = DatabasePlace['tls'];
/** The kind of server wanted (`target_session_attrs`). */
export type WantedServer = DatabasePlace['wanted'];

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
  const unknown = said.keys().find((name) => !Object.hasOwn(PARAMETERS.shape, name));
  if (unknown !== undefined && !/^[a-z_]{1,40}$/.test(unknown))
    return { fault: 'has a ? or & that begins no parameter: in a user or a password write %3F and %26' };
  if (unknown !== undefined) return { fault: `${unknown} in it is not obeyed here: take it out` };
  const { data, error } = PARAMETERS.safeParse(Object.fromEntries(said));
  const [issue] = error?.issues ?? [];
  if (data === undefined) return { fault: `${String(issue?.path[0])} in it ${issue?.message}` };
  const place = placeOf(data);
  const names = place.hosts.map(({ name }) => name);
  if (names.includes('')) return { fault: 'names no host: the folder of a Unix socket is ?host=/var/run/postgresql' };
  const ports = data.port.split(',').length;
  if (ports !== 1 && ports !== names.length) return { fault: 'port in it must be one number, or one for each host' };
  if (data.sslrootcert !== undefined && !isVerifying(place.tls.mode))
    return { fault: 'sslrootcert in it needs sslmode=verify-full or verify-ca beside it' };
  if ((data.sslcert === undefined) !== (data.sslkey === undefined))
    return { fault: 'sslcert and sslkey in it need each other' };
  return place;
}

function placeOf(said: z.output<typeof PARAMETERS>) {
  const ports = said.port.split(',').map(Number);
  return {
    /** Tried in order. */
    hosts: (said.host ?? '').split(',').map((name, index) => ({ name, port: ports[index] ?? ports[0] ?? 0 })),
    user: said.user ?? null,
    password: said.password ?? null,
    /** A libpq file of passwords. */
    passfile: said.passfile ?? null,
    database: said.dbname ?? null,
    tls: {
      mode: said.sslmode ?? (said.ssl === undefined ? null : ('require' as const)),
      /** The authority's certificate file; null for the public authorities. */
      authority: said.sslrootcert === 'system' ? null : (said.sslrootcert ?? null),
      certificate: said.sslcert ?? null,
      key: said.sslkey ?? null,
      keyPassword: said.sslpassword ?? null,
      /** TLS at once, without negotiation. */
      isDirect: said.sslnegotiation === 'direct',
    },
    wanted: said.target_session_attrs ?? ('any' as const),
    /** Per host; null: our default. */
    connectTimeoutS: Number(said.connect_timeout ?? 0) || null,
    applicationName: said.application_name ?? null,
    /** Settings as `-c name=value`. */
    options: said.options ?? null,
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
  /** A standby that reports are read on. */
  READ_DATABASE_URL: databaseUrl.optional(),
  /** Reports are read on the primary while the standby is away; otherwise they are 503. */
  READ_DATABASE_FALLBACK: flag.default(true),
};
