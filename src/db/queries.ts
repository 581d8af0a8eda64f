/**
 * Typed reads through drizzle, on a pool of their own: `drizzle(client)` changes how its client parses dates and json,
 * so a client that also runs raw queries must never be handed to it. Writes with a protocol are raw SQL.
 */
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { Pool, Sql } from './pool.ts';

export type Database = PostgresJsDatabase;

export class Queries {
  readonly #pool: Pool;
  readonly #databases = new WeakMap<Sql, Database>();

  /** Takes `pool` over: nobody else may run queries on it. */
  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Runs `read` within the pool's deadline. */
  async run<T>(read: (database: Database) => Promise<T>): Promise<T> {
    return this.#pool.runOnClient((sql) => {
      const known = this.#databases.get(sql);
      if (known) return read(known);
      const database = drizzle(sql);
      this.#databases.set(sql, database);
      return read(database);
    });
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}
