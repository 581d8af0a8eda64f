/**
 * Runs of failures (`failing_runs`): how often a webhook's attempts have failed since its last success, and when. Counted while the policy
 * is on.
 * Invariant: a row says no more than what was recorded, because it is written after the record. Lost attempts do not count: their outcome
 * is unknown.
 * Crash between a record and its count: that flush is not counted.
 * A lane's keeper knows whether its webhook is in a run, so other successes cost nothing.
 * A run begins after the last success. Reports are recorded in any order, so a keeper remembers each webhook's last success; and only the
 * lane's keeper counts failures, because only it knows of its successes. So what an earlier keeper has in flight does not count.
 * Alternative: the record's own statement could count, but every record would be longer, and wait for others of its webhook.
 */
import type { Pool } from '../../../db/pool.ts';
import { waitBriefly } from '../brief-wait.ts';
import type { Completion } from '../record.ts';
import type { Report } from '../report.ts';
import type { Run } from './failing-rule.ts';

type Ended = Pick<Report, 'webhookId' | 'partnerId' | 'startedAtMs' | 'startedByMs'> & {
  readonly result: Pick<Report['result'], 'outcome' | 'statusCode' | 'durationMs'>;
};

interface Count extends Run {
  readonly webhookId: string;
  readonly partnerId: string;
}

export class FailingRuns {
  readonly #poller: string;
  readonly #known = new Set<string>();
  #isLeaving = false;
  /** By webhook: when its last successful attempt ended, monotonic. */
  readonly #succeededAtMs = new Map<string, number>();
  #counting: Promise<void> = Promise.resolve();

  constructor(poller: string) {
    this.#poller = poller;
  }

  /** A lane was read whose webhook is in a run. One that is in none is not forgotten: a count may have committed since. */
  learn(webhookId: string): void {
    this.#known.add(webhookId);
  }

  /** Its lanes go to others, which may begin runs before what is in flight here succeeds. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** One flush after the other, so that no two wait for each other's rows. */
  async count<R extends Ended>(pool: Pool, completions: ReadonlyMap<R, Pick<Completion, 'standing'>>): Promise<void> {
    const before = this.#counting.catch(() => undefined);
    await (this.#counting = before.then(() => this.#count(pool, completions)));
  }

  /** Counts the recorded reports. One that an earlier flush has recorded may have been counted, so of those only a success counts. */
  async #count<R extends Ended>(pool: Pool, completions: ReadonlyMap<R, Pick<Completion, 'standing'>>): Promise<void> {
    const ended = [...completions].map(([report, { standing }]) => ({ report, isRepeated: standing === 'repeated' }));
    ended.sort((one, other) => endOf(one.report) - endOf(other.report));
    const [delivered, runs] = [new Set<string>(), new Map<string, Count>()];
    for (const { report, isRepeated } of ended) {
      const { webhookId, partnerId, result } = report;
      const succeededAtMs = this.#succeededAtMs.get(webhookId) ?? -Infinity;
      if (result.outcome === 'entregue') {
        delivered.add(webhookId);
        runs.delete(webhookId);
        this.#succeededAtMs.set(webhookId, Math.max(succeededAtMs, endOf(report)));
      } else if (!isRepeated && endOf(report) >= succeededAtMs) {
        const lastFailedAt = new Date(report.startedByMs + result.durationMs);
        const { failures, firstFailedAt } = runs.get(webhookId) ?? { failures: 0, firstFailedAt: lastFailedAt };
        const { outcome: lastOutcome, statusCode: lastStatusCode } = result;
        const last = { lastFailedAt, lastOutcome, lastStatusCode };
        runs.set(webhookId, { webhookId, partnerId, failures: failures + 1, firstFailedAt, ...last });
      }
    }
    const over = [...delivered].filter((id) => this.#isLeaving || this.#known.has(id));
    await write(pool, this.#poller, over, [...runs.values()]);
    for (const id of over) this.#known.delete(id);
    for (const id of runs.keys()) this.learn(id);
  }
}

function endOf({ startedAtMs, result }: Ended): number {
  return startedAtMs + result.durationMs;
}

/** The lanes are locked, so no other poller takes one over, and reads that its webhook is in no run, until the count has committed. */
async function write(pool: Pool, poller: string, over: readonly string[], runs: readonly Count[]): Promise<void> {
  if (over.length + runs.length === 0) return;
  const listOf = (value: (run: Count) => string | number | null) => runs.map(value);
  await pool.transaction(async (tx) => {
    await waitBriefly(tx);
    if (over.length > 0) await tx`delete from failing_runs where webhook_id = any (${over as string[]}::uuid[])`;
    await tx`
      with lane as materialized (
        select webhook_id from lanes
        where webhook_id = any (${listOf((run) => run.webhookId)}::uuid[]) and (keeper is null or keeper = ${poller})
          and exists (select from failing_policy)
        order by webhook_id for share
      )
      insert into failing_runs as known
        (webhook_id, partner_id, failures, first_failed_at, last_failed_at, last_outcome, last_status_code)
      select run.* from unnest(
        ${listOf((run) => run.webhookId)}::uuid[], ${listOf((run) => run.partnerId)}::uuid[],
        ${listOf((run) => run.failures)}::int[], ${listOf((run) => run.firstFailedAt.toISOString())}::timestamptz[],
        ${listOf((run) => run.lastFailedAt.toISOString())}::timestamptz[], ${listOf((run) => run.lastOutcome)}::text[],
        ${listOf((run) => run.lastStatusCode)}::smallint[]) as run (id)
      where id = any (array(select webhook_id from lane))
      order by id
      on conflict (webhook_id) do update
      set failures = known.failures + excluded.failures,
          first_failed_at = least(known.first_failed_at, excluded.first_failed_at),
          last_failed_at = greatest(known.last_failed_at, excluded.last_failed_at),
          last_outcome = excluded.last_outcome, last_status_code = excluded.last_status_code`;
  });
}
