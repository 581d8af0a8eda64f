/** Column types that drizzle lacks. */
import { sql } from 'drizzle-orm';
import { customType, smallint, timestamp, uuid } from 'drizzle-orm/pg-core';

export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' });

/** A transaction id that never wraps; read as text. */
export const xid8 = customType<{ data: string }>({ dataType: () => 'xid8' });

export const ownId = () =>
  uuid('id')
    .primaryKey()
    .default(sql`uuidv7()`);

/** The transaction that wrote the row. */
export const ownTx = () =>
  xid8('tx')
    .notNull()
    .default(sql`pg_current_xact_id()`);

/**
 * The epoch of a row that has a `tx`: the server's timeline plus the number that `adopt` has added (0.4 µs an insert). As a default it is
 * right from the first row after a promotion; set by a watcher, rows before its notice would share positions with lost rows that partners
 * may have seen. The argument of `pg_walfile_name` is volatile, or a plan would cache the answer.
 */
export const epoch = () =>
  smallint('epoch')
    .notNull()
    .default(sql`(('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int + 0)::smallint`);

export const place = () => ({ epoch: epoch(), tx: ownTx() });

/** Read as text. */
export const pgSnapshot = customType<{ data: string }>({ dataType: () => 'pg_snapshot' });

/** A virtual generated column: computed on reading, not stored. */
export const virtual = <T>(type: string, expression: string) =>
  customType<{ data: T }>({ dataType: () => `${type} generated always as (${expression}) virtual` });

export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

/** An instant at full precision, for due times and leases. */
export const preciseInstant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });

/**
 * Hashed with a text before it is sealed: the hash alone reveals nothing. Null when the text was erased; {@link commitment} then keeps the
 * hash.
 */
export const salt = () => bytea('salt').default(sql`uuid_send(gen_random_uuid())`);

/** SHA-256 of salt and text once both were erased; null until then. */
export const commitment = () => bytea('commitment');

/** Also orders rows within one transaction. */
export const CLOCK = sql`clock_timestamp()`;
