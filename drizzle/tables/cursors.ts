/** Keys: that of cursors, and those of signing secrets that are not to be used again. */
import { sql } from 'drizzle-orm';
import { boolean, check, pgTable, text } from 'drizzle-orm/pg-core';
import { bytea, CLOCK, instant } from './columns.ts';

/**
 * The key that signs cursors: one row, made with the table. It lies beside the log, so every API process has it, backups include it, and it
 * outlives rotations of `SECRETS_KEY`.
 */
export const cursorKeys = pgTable(
  'cursor_keys',
  {
    isOnly: boolean('is_only').primaryKey().default(true),
    key: bytea('key').notNull(),
  },
  (table) => [
    check('cursor_keys_is_only_check', sql`${table.isOnly}`),
    check('cursor_keys_key_check', sql`octet_length(${table.key}) = 32`),
  ],
);

/**
 * Keys of signing secrets that `secrets reseal` has replaced, by public name: a process whose first key is one of them would encrypt with
 * it, and is refused at its start.
 */
export const retiredKeys = pgTable('retired_keys', {
  keyId: text('key_id').primaryKey(),
  actor: text('actor').notNull(),
  retiredAt: instant('retired_at').notNull().default(CLOCK),
});
