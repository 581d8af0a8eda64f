/** Bounds of the operator's reads: page sizes, and where counting stops. */
import { COUNTED } from '../contract/resources/operator.ts';
import type { Pool, Tx } from '../db/pool.ts';

/** Default page size of lists. */
export const LIST_PAGE = 100;
export const HISTORY_PAGE = 100;

/** After every line of a history. */
export const NO_LINE = '9223372036854775807';

export interface Page {
  /** Id after which the page begins; null: the first page. */
  readonly after?: string | null;
  readonly limit?: number;
}

export interface PageOf<T> {
  readonly rows: readonly T[];
  /** Cursor of the next page; null after the last one. */
  readonly next: string | null;
}

/** The page of `rows` read with `limit` + 1; the extra row shows that there is a next page. */
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
 * Runs a read with limits in its own transaction, in index order. With missing or old statistics the planner would fetch and sort all rows
 * instead: it read all 50,000 pending deliveries of a webhook.
 */
export function readBounded<T>(pool: Pool, read: (tx: Tx) => Promise<T>): Promise<T> {
  return pool.transaction(async (tx) => {
    await tx`
      select set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true),
             set_config('enable_seqscan', 'off', true)`;
    return read(tx);
  });
}
