/** What a statement is sent on, and what it comes back as. */
import type postgres from 'postgres';

export type Sql = postgres.Sql<Record<never, never>>;
/** A transaction, or a connection outside one: anything that takes a tagged query. */
export type Tx = postgres.ISql<Record<never, never>>;

/** One query that was made but not sent. */
export type Statement<Row extends object> = postgres.PendingQuery<Row[]>;
