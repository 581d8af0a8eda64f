/** Constraints and indexes that several tables share. */
import { sql, type SQL } from 'drizzle-orm';
import { check, index } from 'drizzle-orm/pg-core';

/** The CHECK that a text column holds a word of the closed vocabulary. */
export const oneOf = (column: string, values: readonly string[]): SQL =>
  sql.raw(`${column} in (${values.map((value) => `'${value}'`).join(', ')})`);

/**
 * The sealer finds rows by epoch and transaction. BRIN fits, because rows are only added, but has no operators for xid8. The expression
 * costs 0.1 µs an insert; through text 0.4 µs.
 */
export const sealable = (table: string) =>
  index(`${table}_sealable`)
    .using('brin', sql`epoch`, sql`(xid8send(tx)::bigint)`)
    .with({ autosummarize: true });

/**
 * The same, and the CHECK that a seal can cover the row: spans begin at (0, 0), and transactions are signed numbers. Not for events and
 * attempts: a writing statement parses its table's CHECKs anew (log.ts), and the roles that write these two may not choose a row's place.
 */
export const sealed = (table: string) => [
  sealable(table),
  check(`${table}_place`, sql`epoch >= 0 and xid8send(tx)::bigint >= 0`),
];
