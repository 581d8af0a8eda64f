/** A client of the driver for one host of the database's URL, told everything: it would read a URL otherwise than libpq does. */
import postgres from 'postgres';
import { parse } from 'postgres-array';
import type { DatabaseHost, DatabasePlace } from '../../database-url.ts';
import { searchPathOf } from '../installation.ts';
import type { Sql } from '../sql.ts';
import { passwordOf } from './credentials.ts';
import { tlsOf } from './tls.ts';

/** How to connect. */
export interface ConnectionOptions {
  readonly place: DatabasePlace;
  readonly schema: string;
  /** Shown in `pg_stat_activity`, unless the URL has another one. */
  readonly name: string;
  readonly deadlineMs: number;
  /** False behind a pooler in transaction mode. */
  readonly prepare: boolean;
  /** Settings of every session. */
  readonly settings: Readonly<Record<string, string>>;
}

/** With what the driver has and its types leave out. */
export type Client = Sql & { close(): Promise<void> };

/** The server gives up this much earlier than the client, so that only a silent network reaches the client's deadline. */
const SERVER_LEAD_MS = 1_000;
const CONNECT_TIMEOUT_S = 3;

/** The session of a machine that is gone without a word is ended after a minute and a half, not after two hours. */
const KEEPALIVES = { tcp_keepalives_idle: 60, tcp_keepalives_interval: 10, tcp_keepalives_count: 3 };

/** As texts: the driver leaves out a 0. A role's own would end a session before its first statement is there. */
const ENDLESS: Readonly<Record<string, string>> = { idle_session_timeout: '0', lock_timeout: '0' };

/**
 * PostgreSQL's arrays by the number of their type, which never changes, each with that of its elements. The driver would ask each
 * new session for them, in a promise that nobody holds: an error of that statement would end the process.
 */
const ARRAYS: Readonly<Record<number, number>> = {
  199: 114, 271: 5069, 1000: 16, 1001: 17, 1002: 18, 1003: 19, 1005: 21, 1007: 23, 1009: 25, 1010: 27, 1015: 1043,
  1016: 20, 1021: 700, 1022: 701, 1028: 26, 1115: 1114, 1182: 1082, 1185: 1184, 1231: 1700, 2211: 2206, 2951: 2950,
  3807: 3802,
}; // prettier-ignore

/** A bytea as either setting of `bytea_output` writes it. In the form "escape" a backslash never stands before an x. */
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

/** Not connected yet. Throws `UntrustedServer` when a file that the URL names cannot be used. */
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
    // Lists: the driver would cut a text at its first colon.
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
      // Those that a pooler keeps for each of its clients.
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
