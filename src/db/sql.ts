/**
 * What a statement is sent on, and what it comes back as.
 *
 * One rule: drizzle declares the tables (drizzle/tables/) and makes their migration while we develop; every statement that runs is
 * tagged SQL. A reader sees the statement that the server gets, and no process loads drizzle, which takes 0.45 s and some
 * 200 MB. No type comes from the tables either, so the image does without them. test/ranks.test.ts holds it.
 */
import type postgres from 'postgres';

export type Sql = postgres.Sql<Record<never, never>>;
/** A transaction, or a connection outside one: anything that takes a tagged query. */
export type Tx = postgres.ISql<Record<never, never>>;

/** A piece of a statement, which is sent as a part of one. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;
