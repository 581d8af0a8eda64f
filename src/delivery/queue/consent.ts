/**
 * Consent: until a webhook's URL has answered 2xx once, its owner may not have asked for our deliveries.
 * Invariant: such a webhook has at most one delivery in flight over all pollers (kept-lane.ts). After {@link MANY} attempts in a row
 * without a 2xx, one is sent per {@link QUIET_S}. A new URL starts again: attempts name the URL, so earlier answers do not count.
 * Lock order: webhooks by id, then their lanes by id, which the trigger of webhooks would take in any order (change_lane.sql).
 * Crash: answers are counted after their record; a crash in between loses the count, and the URL waits for its next answer. Each change
 * has the lane read again. So the keeper knows whether the URL has answered, and other webhooks cost nothing.
 */
import type { Pool } from '../../db/pool.ts';
import { waitBriefly } from './brief-wait.ts';
import type { Report } from './report.ts';

const MANY = 10;
const QUIET_S = 60;

type Answered = Pick<Report, 'webhookId' | 'url' | 'result'>;

export class Consent {
  readonly #missing = new Set<string>();

  /** A webhook's lane has been read: its URL has not answered 2xx yet, or it has. */
  learn(webhookId: string, isMissing: boolean): void {
    if (isMissing) this.#missing.add(webhookId);
    else this.#missing.delete(webhookId);
  }

  /** Counts recorded answers of URLs that had not answered 2xx when their lanes were read. */
  async count(pool: Pool, reports: readonly Answered[], now: Date | null): Promise<void> {
    const asked = reports.filter(({ webhookId }) => this.#missing.has(webhookId));
    if (asked.length === 0) return;
    await pool.transaction(async (tx) => {
      await waitBriefly(tx);
      await tx`
        with reported as materialized (
          select id, url, count(*) filter (where accepted = 0)::int as failed, max(accepted) = 1 as is_accepted
          from unnest(${asked.map(({ webhookId }) => webhookId)}::uuid[], ${asked.map(({ url }) => url)}::text[],
                      ${asked.map(({ result }) => Number(result.outcome === 'entregue'))}::int[]) as t (id, url, accepted)
          group by id, url
        ),
        held as materialized (
          select id from webhooks where id = any (array(select id from reported)) order by id for no key update
        ),
        lane as materialized (
          select webhook_id from lanes where webhook_id = any (array(select id from held)) order by webhook_id for no key update
        )
        update webhooks w
        set refusals = case when not is_accepted then least(refusals + failed, 1000) end,
            quiet_until = case when not is_accepted and refusals + failed >= ${MANY}
                               then coalesce(${now}::timestamptz, now()) + ${QUIET_S} * interval '1 second' end
        from reported
        where w.id = reported.id and w.url = reported.url and w.refusals is not null and w.id = any (array(select webhook_id from lane))`;
    });
  }
}
