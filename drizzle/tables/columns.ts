/** Column types that drizzle lacks. */
import { sql } from 'drizzle-orm';
import { customType, smallint, timestamp, uuid } from 'drizzle-orm/pg-core';

export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' });

/** A transaction id that never wraps around; read as text. */
export const xid8 = customType<{ data: string }>({ dataType: () => 'xid8' });

/** The primary key of a row that nobody names before it is written. */
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
 * The epoch of a row that has a `tx`: the server's timeline plus the number that `adopt` has added. It costs 0.4 µs an insert.
 * A default computes it, so that it is right from the very first row after a promotion. If a watcher set it, rows written
 * before it noticed would share positions with rows that the promotion lost and that partners may have seen.
 * The argument of `pg_walfile_name` is volatile, or a plan would keep the answer.
 */
export const epoch = () =>
  smallint('epoch')
    .notNull()
    .default(sql`(('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int + 0)::smallint`);

/** Where a row lies in the log. */
export const place = () => ({ epoch: epoch(), tx: ownTx() });

/** What a statement could see; read as text. */
export const pgSnapshot = customType<{ data: string }>({ dataType: () => 'pg_snapshot' });

/** A virtual generated column, which drizzle lacks: PostgreSQL computes it when it is read, and stores nothing. */
export const virtual = <T>(type: string, expression: string) =>
  customType<{ data: T }>({ dataType: () => `${type} generated always as (${expression}) virtual` });

/** An instant to the millisecond, which is what the wire shows. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

/** An instant at the database's full precision, for due times and leases. */
export const preciseInstant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });

/**
 * What a text is hashed with before it is sealed: whoever lacks the two learns nothing from the hash. Null when the text was
 * erased; {@link commitment} then keeps the hash.
 */
export const salt = () => bytea('salt').default(sql`uuid_send(gen_random_uuid())`);

/** SHA-256 of salt and text, kept here when both were erased; null until then. */
export const commitment = () => bytea('commitment');

/** Of rows that follow one another in one transaction, too. */
export const CLOCK = sql`clock_timestamp()`;
