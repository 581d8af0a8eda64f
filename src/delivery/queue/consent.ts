/**
 * Consent: until a webhook's URL has answered 2xx once, its owner may not have asked for our deliveries.
 * Invariant: such a webhook has at most one delivery in flight over all pollers (kept-lane.ts). After {@link MANY} attempts in a row
 * without a 2xx, one is sent per {@link QUIET_S}. A new URL starts again: attempts name the URL, so earlier answers do not count.
 * Crash: answers are counted after their record; a crash in between loses the count, and the URL waits for its next answer.
 * A poller remembers for {@link REMEMBERED_MS} which URLs have answered, so a flush asks nothing about those. It then forgets, because a
 * URL that is dropped and comes back starts again.
 */
import type { Pool } from '../../db/pool.ts';
import type { Report } from './report.ts';

const MANY = 10;
const QUIET_S = 60;
const REMEMBERED = 10_000;
const REMEMBERED_MS = 600_000;

type Told = Pick<Report, 'webhookId' | 'url' | 'result'>;

interface Count {
  readonly webhookId: string;
  readonly url: string;
  failed: number;
  isAccepted: boolean;
}

export class Consent {
  readonly #given = new Map<string, string>();
  readonly #monotonicMs: () => number;
  #forgetsAtMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Counts recorded answers of URLs that are not known to have answered. */
  async count(pool: Pool, reports: readonly Told[], now: Date | null): Promise<void> {
    const nowMs = this.#monotonicMs();
    if (nowMs >= this.#forgetsAtMs) {
      this.#given.clear();
      this.#forgetsAtMs = nowMs + REMEMBERED_MS;
    }
    const counts = this.#unknown(reports);
    if (counts.length === 0) return;
    const given = await pool.transaction(
      (tx) => tx<{ webhookId: string; url: string }[]>`
        with told as (
          select * from unnest(${counts.map(({ webhookId }) => webhookId)}::uuid[], ${counts.map(({ url }) => url)}::text[],
                               ${counts.map(({ failed }) => failed)}::int[],
                               ${counts.map(({ isAccepted }) => Number(isAccepted))}::int[]) as t (id, url, failed, accepted)
        ),
        counted as (
          update webhooks w
          set refusals = case when accepted = 0 then least(refusals + failed, 1000) end,
              quiet_until = case when accepted = 0 and refusals + failed >= ${MANY}
                                 then coalesce(${now}::timestamptz, now()) + ${QUIET_S} * interval '1 second' end
          from told
          where w.id = told.id and w.url = told.url and w.refusals is not null
          returning w.id, w.refusals
        )
        select w.id as "webhookId", w.url
        from told
        join webhooks w using (id, url)
        left join counted using (id)
        where w.refusals is null or counted.id is not null and counted.refusals is null`,
    );
    if (this.#given.size + given.length > REMEMBERED) this.#given.clear();
    for (const { webhookId, url } of given) this.#given.set(webhookId, url);
  }

  #unknown(reports: readonly Told[]): Count[] {
    const counts = new Map<string, Count>();
    for (const { webhookId, url, result } of reports) {
      if (this.#given.get(webhookId) === url) continue;
      const key = `${webhookId} ${url}`;
      const count = counts.get(key) ?? { webhookId, url, failed: 0, isAccepted: false };
      if (result.outcome === 'entregue') count.isAccepted = true;
      else count.failed += 1;
      counts.set(key, count);
    }
    return [...counts.values()].toSorted((one, other) => (one.webhookId < other.webhookId ? -1 : 1));
  }
}
