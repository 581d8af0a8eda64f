/**
 * The settings our statements depend on besides search path and time-outs; a role, a database or a server may set others.
 * Each connection sets them in its first statement, not in its start-up message, where a pooler refuses unknown parameters. Behind a pooler
 * in transaction mode sessions are shared, so nothing is set; a start checks them (main/operations/checks.ts). Stored values depend on no
 * setting: the driver parses both forms of bytea (client.ts).
 */
import type { Tx } from '../sql.ts';

/** As `pg_settings` shows them. */
const SETTINGS = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  xmlbinary: 'base64',
  xmloption: 'content',
  standard_conforming_strings: 'on',
  backslash_quote: 'safe_encoding',
  array_nulls: 'on',
  transform_null_equals: 'off',
  quote_all_identifiers: 'off',
  row_security: 'on',
  check_function_bodies: 'on',
  restrict_nonsystem_relation_kind: '',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  exit_on_error: 'off',
  'plpgsql.extra_errors': 'none',
} as const;

/** Only a superuser may set these: a session with another value is refused. */
const NOT_OURS = { session_replication_role: 'origin' } as const;

/** A connection's first statement; its one row says what the server is (`target_session_attrs`). */
export function greetingOf(isPooled: boolean): string {
  const settings = isPooled ? [] : Object.entries(SETTINGS);
  const set = settings.map(([name, value]) => `, pg_catalog.set_config('${name}', '${value}', false)`).join('');
  return `select pg_catalog.pg_is_in_recovery() as "isStandby",
    pg_catalog.current_setting('transaction_read_only') = 'on' as "isReadOnly"${set}`;
}

export interface WrongSetting {
  readonly name: string;
  readonly value: string;
  readonly wanted: string;
}

export async function readWrongSettings(sql: Tx): Promise<readonly WrongSetting[]> {
  const all = Object.entries({ ...SETTINGS, ...NOT_OURS });
  return sql<WrongSetting[]>`
    select wanted.name, current_setting(wanted.name, true) as value, wanted.value as wanted
    from unnest(${all.map(([name]) => name)}::text[], ${all.map(([, value]) => value as string)}::text[]) as wanted (name, value)
    where coalesce(current_setting(wanted.name, true), wanted.value) <> wanted.value
    order by wanted.name`;
}
