/**
 * Where attempts went: URL, address and key of most attempts are those of others before them, so an attempt names a row of `targets`
 * that has the three (50 B less, with a URL of 27). The record looks for it (record.ts); an attempt for which there is none keeps its texts.
 *
 * Invariant: an attempt names a row only if the record's own statement read these texts in it. What a process remembers decides
 * nothing but what it adds, so a database that went back in time has attempts with texts of their own, and never with another's.
 */
import type { Pool } from '../../db/pool.ts';
import { arrayText } from './array-text.ts';
import type { Report } from './report.ts';

/** A longer URL stays with its attempts: an index entry has no room for it. */
const MOST_URL_BYTES = 1_024;
const MOST_REMEMBERED = 10_000;

export class Targets {
  readonly #known = new Set<string>();

  /** Adds the targets of these reports that this process has not seen, for the attempts behind them. */
  async learn(pool: Pool, reports: readonly Report[]): Promise<void> {
    const strange = new Map<string, Report>();
    for (const report of reports) {
      const key = `${report.url} ${report.result.address} ${report.keyId}`;
      if (this.#known.has(key) || report.result.address === null) continue;
      if (Buffer.byteLength(report.url) <= MOST_URL_BYTES) strange.set(key, report);
    }
    if (strange.size === 0) return;
    const listOf = (value: (report: Report) => string | null) => arrayText([...strange.values()], value);
    await pool.run(
      (sql) => sql`
        insert into targets (url, address, key_id)
        select given.* from unnest(
          ${listOf((report) => report.url)}::text::text[], ${listOf((report) => report.result.address)}::text::text[],
          ${listOf((report) => report.keyId)}::text::text[]) as given (url, address, key_id)
        where not exists (
          select from targets t where (t.url, t.address, t.key_id) = (given.url, given.address, given.key_id))
        order by url, address, key_id
        on conflict do nothing`,
    );
    if (this.#known.size > MOST_REMEMBERED) this.#known.clear();
    for (const key of strange.keys()) this.#known.add(key);
  }
}
