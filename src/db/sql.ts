/**
 * What a statement is sent on, and what it returns.
 * One rule (test/ranks.test.ts): drizzle declares the tables (drizzle/tables/) and makes their migration during development; every
 * statement that runs is tagged SQL. The reader sees what the server gets, no process loads drizzle (0.45 s, some 200 MB), and the image
 * does without it.
 */
import type postgres from 'postgres';

export type Sql = postgres.Sql<Record<never, never>>;
/** A transaction or a connection: anything that takes a tagged query. */
export type Tx = postgres.ISql<Record<never, never>>;

export type Fragment = postgres.PendingQuery<postgres.Row[]>;
