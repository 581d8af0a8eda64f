/** Column types that drizzle lacks. */
import { customType, timestamp } from 'drizzle-orm/pg-core';

export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' });

/** A transaction id that never wraps around; read as text. */
export const xid8 = customType<{ data: string }>({ dataType: () => 'xid8' });

/** What a statement could see; read as text. */
export const pgSnapshot = customType<{ data: string }>({ dataType: () => 'pg_snapshot' });

/** A virtual generated column, which drizzle lacks: PostgreSQL computes it when it is read, and stores nothing. */
export const computedText = (expression: string) =>
  customType<{ data: string }>({ dataType: () => `text generated always as (${expression}) virtual` });

/** An instant to the millisecond, which is what the wire shows. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

/** An instant at the database's full precision, for due times and leases. */
export const preciseInstant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
