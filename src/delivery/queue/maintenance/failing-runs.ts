/**
 * Runs of failures (`failing_runs`): how often a webhook's attempts have failed since its last success, and when. Counted while the policy
 * is on.
 * Invariant: a row says no more than what was recorded, because it is written after the record. Lost attempts do not count: their outcome
 * is unknown.
 * Crash between a record and its count: that flush is not counted.
 * A lane's keeper knows whether its webhook is in a run, so other successes cost nothing. A count by an earlier keeper has the lane read
 * again: otherwise no success would end that run.
 * Alternative: the record's own statement could count, but every record would be longer, and wait for others of its webhook.
 */
import type { Outcome } from '../../../contract/statuses.ts';
import type { Pool } from '../../../db/pool.ts';
import type { Completion } from '../record.ts';
import type { Report } from '../report.ts';
import type { Run } from './failing-rule.ts';

type Ended = Pick<Report, 'webhookId' | 'partnerId' | 'startedByMs'> & {
  readonly result: Pick<Report['result'], 'outcome' | 'statusCode' | 'durationMs'>;
};

interface Count extends Run {
  readonly webhookId: string;
  readonly partnerId: string;
}

export class FailingRuns {
  readonly #poller: string;
  readonly #known = new Set<string>();
  #counting: Promise<void> = Promise.resolve();

  constructor(poller: string) {
    this.#poller = poller;
  }

  /** A webhook's lane has been read: it is in a run, or not. */
  learn(webhookId: string, isInRun: boolean): void {
    if (isInRun) this.#known.add(webhookId);
    else this.#known.delete(webhookId);
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
      if (result.outcome === 'entregue') {
        delivered.add(webhookId);
        runs.delete(webhookId);
      } else if (!isRepeated) {
        const { failures, firstFailedAt } = runs.get(webhookId) ?? {
          failures: 0,
          firstFailedAt: new Date(endOf(report)),
        };
        const last: { lastOutcome: Outcome; lastStatusCode: number | null; lastFailedAt: Date } = {
          lastOutcome: result.outcome,
          lastStatusCode: result.statusCode,
          lastFailedAt: new Date(endOf(report)),
        };
        runs.set(webhookId, { webhookId, partnerId, failures: failures + 1, firstFailedAt, ...last });
      }
    }
    const over = [...delivered].filter((id) => this.#known.has(id));
    await write(pool, this.#poller, over, [...runs.values()]);
    for (const id of over) this.learn(id, false);
    for (const id of runs.keys()) this.learn(id, true);
  }
}

function endOf({ startedByMs, result }: Ended): number {
  return startedByMs + result.durationMs;
}

async function write(pool: Pool, poller: string, over: readonly string[], runs: readonly Count[]): Promise<void> {
  if (over.length + runs.length === 0) return;
  const listOf = (value: (run: Count) => string | number | null) => runs.map(value);
  await pool.transaction(async (tx) => {
    if (over.length > 0) await tx`delete from failing_runs where webhook_id = any (${over as string[]}::uuid[])`;
    await tx`
      insert into failing_runs as known
        (webhook_id, partner_id, failures, first_failed_at, last_failed_at, last_outcome, last_status_code)
      select run.* from unnest(
        ${listOf((run) => run.webhookId)}::uuid[], ${listOf((run) => run.partnerId)}::uuid[],
        ${listOf((run) => run.failures)}::int[], ${listOf((run) => run.firstFailedAt.toISOString())}::timestamptz[],
        ${listOf((run) => run.lastFailedAt.toISOString())}::timestamptz[], ${listOf((run) => run.lastOutcome)}::text[],
        ${listOf((run) => run.lastStatusCode)}::smallint[]) as run (id)
      where exists (select from failing_policy)
      order by id
      on conflict (webhook_id) do update
      set failures = known.failures + excluded.failures,
          first_failed_at = least(known.first_failed_at, excluded.first_failed_at),
          last_failed_at = greatest(known.last_failed_at, excluded.last_failed_at),
          last_outcome = excluded.last_outcome, last_status_code = excluded.last_status_code`;
    await tx`
      update lanes set changed = true
      where webhook_id = any (array(
        select webhook_id from lanes
        where webhook_id = any (${listOf((run) => run.webhookId)}::uuid[]) and coalesce(keeper, '') not in ('', ${poller})
        order by webhook_id for no key update))`;
  });
}
