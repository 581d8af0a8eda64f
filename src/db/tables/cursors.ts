/** What makes a cursor of a list this installation's own. */
import { sql } from 'drizzle-orm';
import { boolean, check, pgTable } from 'drizzle-orm/pg-core';
import { bytea } from '../columns.ts';

/**
 * The key that cursors are signed with: one row, made with the table. It lies beside the log that the cursors point into, so
 * every API process has it, it travels with a copy or a backup, and it outlives every rotation of `SECRETS_KEY`.
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
