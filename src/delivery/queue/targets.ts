/**
 * Where attempts went: URL, address and key repeat, so an attempt names a row of `targets` (50 B less each). An attempt without such a row
 * keeps its texts.
 * Invariant: an attempt names a row only if the record's own statement read these texts in it (record.ts). What a process remembers only
 * decides which rows it adds, so after a restore of the database no attempt names another's target.
 */
import type { Pool } from '../../db/pool.ts';
import { arrayText } from './array-text.ts';
import type { Report } from './report.ts';

/** A longer URL stays with its attempts: it does not fit an index entry. */
const MOST_URL_BYTES = 1_024;
const MOST_REMEMBERED = 10_000;

export class Targets {
  readonly #known = new Set<string>();

  /** Adds the targets of these reports that are new to this process; later attempts use them. */
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
