/** Bounds of the operator's reads: page sizes, and where counting stops. */
import { COUNTED } from '../contract/resources/operator.ts';
import type { Pool, Tx } from '../db/pool.ts';

/** Entries of a list, unless the reader says otherwise. */
export const LIST_PAGE = 100;
/** Lines of a history. */
export const HISTORY_PAGE = 100;

/** After every line of a history. */
export const NO_LINE = '9223372036854775807';

export interface Page {
  /** The id after which it begins; null: with the first. */
  readonly after?: string | null;
  readonly limit?: number;
}

export interface PageOf<T> {
  readonly rows: readonly T[];
  /** What the next page begins after; null after the last one. */
  readonly next: string | null;
}

/** The page of `rows` that were read with one more than `limit`; that one says that there is a next page. */
export function pageOf<T>(rows: readonly T[], limit: number, keyOf: (row: T) => string): PageOf<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, next: rows.length > limit && last !== undefined ? keyOf(last) : null };
}

/** `10000+` where counting stopped at {@link COUNTED}. */
export function countText(count: number): string {
  return count > COUNTED ? `${COUNTED}+` : String(count);
}

/**
 * Runs a read whose limits bound what it looks at, in a transaction of its own.
 *
 * A limit bounds a walk along an index in the order that is asked for. Where statistics are missing or old, the planner takes
 * what it believes to be a few rows all at once and sorts them: of a webhook that had 50,000 pending it read them all.
 */
export function readBounded<T>(pool: Pool, read: (tx: Tx) => Promise<T>): Promise<T> {
  return pool.transaction(async (tx) => {
    await tx`
      select set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true),
             set_config('enable_seqscan', 'off', true)`;
    return read(tx);
  });
}
