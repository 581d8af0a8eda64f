/** A driver's client for one host. Everything is passed explicitly, because the driver reads URLs unlike libpq. */
import postgres from 'postgres';
import { parse } from 'postgres-array';
import type { DatabaseHost, DatabasePlace } from '../../settings/database-url.ts';
import { searchPathOf } from '../installation.ts';
import type { Sql } from '../sql.ts';
import { passwordOf } from './credentials.ts';
import { tlsOf } from './tls.ts';

export interface ConnectionOptions {
  readonly place: DatabasePlace;
  readonly schema: string;
  /** Shown in `pg_stat_activity` unless the URL names another. */
  readonly name: string;
  readonly deadlineMs: number;
  /** False behind a pooler in transaction mode. */
  readonly prepare: boolean;
  readonly settings: Readonly<Record<string, string>>;
}

/** With members that the driver has and its types lack. */
export type Client = Sql & { close(): Promise<void> };

/** The server gives up this much before the client, so only a silent network reaches the client's deadline. */
const SERVER_LEAD_MS = 1_000;
const CONNECT_TIMEOUT_S = 3;

/** A vanished machine's session is ended after 90 s, not after two hours. */
const KEEPALIVES = { tcp_keepalives_idle: 60, tcp_keepalives_interval: 10, tcp_keepalives_count: 3 };

/** As texts, because the driver drops a 0. A role's own value could end a session before its first statement. */
const ENDLESS: Readonly<Record<string, string>> = { idle_session_timeout: '0', lock_timeout: '0' };

/**
 * Array types by their fixed number, with their element type. The driver would query each new session for them in an unhandled promise: an
 * error there would end the process.
 */
const ARRAYS: Readonly<Record<number, number>> = {
  199: 114, 271: 5069, 1000: 16, 1001: 17, 1002: 18, 1003: 19, 1005: 21, 1007: 23, 1009: 25, 1010: 27, 1015: 1043,
  1016: 20, 1021: 700, 1022: 701, 1028: 26, 1115: 1114, 1182: 1082, 1185: 1184, 1231: 1700, 2211: 2206, 2951: 2950,
  3807: 3802,
}; // prettier-ignore

/** A bytea in either form of `bytea_output`. In "escape" a backslash never precedes an x. */
function readBytes(text: string): Buffer {
  if (text.startsWith(String.raw`\x`)) return Buffer.from(text.slice(2), 'hex');
  const raw = text.replaceAll(/\\(\\|[0-7]{3})/g, (_, code: string) =>
    code === '\\' ? code : String.fromCharCode(Number.parseInt(code, 8)),
  );
  return Buffer.from(raw, 'latin1');
}

function addTypes({ options: { parsers, serializers } }: Sql): void {
  parsers[17] = readBytes;
  for (const [array, element] of Object.entries(ARRAYS)) {
    const read = parsers[element] ?? ((text: string) => text);
    const write = serializers[element] ?? String;
    const writeAll = (values: unknown): unknown => {
      if (!Array.isArray(values)) return values;
      const written = values.map((value: unknown) => {
        if (value === null) return 'null';
        if (Array.isArray(value)) return writeAll(value);
        return `"${String(write(value)).replaceAll(/["\\]/g, String.raw`\$&`)}"`;
      });
      return `{${written.join(',')}}`;
    };
    parsers[Number(array)] = (text: string) => parse(text, read);
    serializers[Number(array)] = writeAll;
  }
}

/** Connects later. Throws `UntrustedServer` when a file named in the URL is unusable. */
export async function clientOf(
  { place, schema, name, deadlineMs, prepare, settings }: ConnectionOptions,
  host: DatabaseHost,
  onclose: () => void,
  onnotice: (notice: postgres.Notice) => void,
): Promise<Client> {
  const serverTimeoutMs = deadlineMs - SERVER_LEAD_MS;
  const { user, database, applicationName, options } = place;
  const isSocket = host.name.startsWith('/');
  const password = await passwordOf(place, host);
  const fair = serverTimeoutMs / 1_000 / place.hosts.length;
  const client = postgres({
    // Arrays, because the driver would cut a text at its first colon.
    ...({ host: [isSocket ? 'localhost' : host.name], port: [host.port] } as unknown as { host: string; port: number }),
    ...(isSocket && { path: `${host.name}/.s.PGSQL.${host.port}` }),
    ...(user !== null && { user }),
    ...(database !== null && { database }),
    ...(password !== null && { password }),
    ...tlsOf(place.tls, isSocket ? null : host.name),
    max: 1,
    prepare,
    fetch_types: false,
    connect_timeout: Math.min(place.connectTimeoutS ?? CONNECT_TIMEOUT_S, place.hosts.length > 1 ? fair : Infinity),
    max_lifetime: null,
    backoff: () => 0.05,
    connection: {
      application_name: applicationName ?? name,
      ...(options !== null && { options }),
      statement_timeout: serverTimeoutMs,
      idle_in_transaction_session_timeout: serverTimeoutMs,
      transaction_timeout: deadlineMs,
      ...ENDLESS,
      tcp_user_timeout: deadlineMs,
      ...KEEPALIVES,
      TimeZone: 'UTC',
      // Those that a pooler keeps per client.
      DateStyle: 'ISO, MDY',
      standard_conforming_strings: 'on',
      search_path: searchPathOf(schema),
      ...settings,
    },
    onclose,
    onnotice,
  }) as unknown as Client;
  addTypes(client);
  return client;
}
