/**
 * Statements made with drizzle's builder, so that a renamed column does not compile, and run on whatever connection or
 * transaction the caller has: the builder needs no pool and no client of its own (`drizzle-orm/pg-proxy`).
 *
 * A statement is built once, at its first use, with placeholders for what each call brings: building it each time costs
 * four times the query. Hand-written SQL stays for the hot path (log, delivery/queue), the feed, reports and seals, and
 * where the builder has no word for it. The poller's process never loads this file: drizzle takes 0.45 s and some 200 MB.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { DrizzleQueryError, type Placeholder, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/pg-proxy';
import type { Tx } from './sql.ts';

const running = new AsyncLocalStorage<Tx>();

const builder = drizzle(async (text, params: (string | number | boolean | Date | Buffer | null)[]) => {
  const tx = running.getStore();
  if (tx === undefined) throw new Error('a statement runs through what prepared() returns');
  return { rows: await tx.unsafe(text, params, { prepare: true }).values() };
});

type Builder = typeof builder;

/** Names the values of a statement that each call brings. */
type Placeholders<V> = { readonly [N in keyof V & string]: Placeholder<N> };

interface Buildable<R> {
  prepare(name: string): { execute(values: Record<string, unknown>): Promise<R> };
}

/** A statement of which calls bring `V`. */
export type Prepared<V, R> = (tx: Tx, values: V) => Promise<R>;

/**
 * Declares a statement. `build` gets the builder and a placeholder for each field of `V`; it runs once.
 * Called twice, `prepared<V>()(build)`, because the compiler infers either all types of a call or none.
 */
export function prepared<V extends object>() {
  return <R>(build: (database: Builder, given: Placeholders<V>) => Buildable<R>): Prepared<V, R> => {
    const given = new Proxy({} as Placeholders<V>, { get: (_, name) => sql.placeholder(String(name)) });
    let statement: ReturnType<Buildable<R>['prepare']> | null = null;
    return async (tx, values) => {
      statement ??= build(builder, given).prepare('');
      const made = statement;
      try {
        return await running.run(tx, () => made.execute(values as Record<string, unknown>));
      } catch (error) {
        // Its message quotes the values, which may be a tax id.
        throw error instanceof DrizzleQueryError && error.cause !== undefined ? error.cause : error;
      }
    };
  };
}
