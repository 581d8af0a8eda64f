/**
 * The queue as its operator sees it, over all partners: the lanes that are due first, the pollers that recorded something
 * lately, and the webhooks that fail. Each reading walks the end of an index, a bounded part of it.
 */
import type { Outcome } from '../../contract/statuses.ts';
import type { Pool } from '../../db/pool.ts';
import { readOldestDueS } from './oldest-due.ts';

const LANES = 50;
/** The newest attempts by which pollers are known, and the newest failures by which webhooks are. */
const LOOKED_AT = 2_000;

export interface DueLane {
  readonly webhookId: string;
  readonly partner: string;
  readonly url: string;
  readonly active: boolean;
  readonly nextDueAt: Date;
  readonly isDue: boolean;
  readonly saturated: boolean;
  readonly maxInFlight: number;
  /** How many it is allowed for now; null: as many as its cap. */
  readonly windowSize: number | null;
}

interface SeenPoller {
  readonly name: string;
  readonly attempts: number;
  readonly lastAt: Date;
}

interface FailingWebhook {
  readonly webhookId: string;
  readonly partner: string;
  readonly url: string;
  readonly failures: number;
  readonly lastAt: Date;
  readonly lastOutcome: Outcome;
}

export interface Operations {
  readonly oldestDueS: number;
  readonly lanes: readonly DueLane[];
  readonly pollers: readonly SeenPoller[];
  readonly failing: readonly FailingWebhook[];
}

export async function readOperations(pool: Pool): Promise<Operations> {
  const [oldestDueS, lanes, pollers, failing] = await Promise.all([
    pool.run(readOldestDueS),
    readLanes(pool),
    readPollers(pool),
    readFailing(pool),
  ]);
  return { oldestDueS, lanes, pollers, failing };
}

async function readLanes(pool: Pool): Promise<DueLane[]> {
  return pool.run(
    (sql) => sql<DueLane[]>`
      select l.webhook_id as "webhookId", p.name as partner, w.url, w.active and p.active as active,
             l.next_due_at as "nextDueAt", l.next_due_at <= now() as "isDue", l.saturated,
             l.max_in_flight as "maxInFlight", l.window_size as "windowSize"
      from (select * from lanes where next_due_at is not null order by next_due_at limit ${LANES}) l
      join webhooks w on w.id = l.webhook_id
      join partners p on p.id = w.partner_id
      order by l.next_due_at`,
  );
}

async function readPollers(pool: Pool): Promise<SeenPoller[]> {
  return pool.run(
    (sql) => sql<SeenPoller[]>`
      select name, sum(attempts)::int as attempts, max(at) as "lastAt"
      from (
        select poller as name, count(*) as attempts, max(recorded_at) as at
        from (select poller, recorded_at from attempts order by recorded_at desc limit ${LOOKED_AT}) newest
        group by poller
        union all
        select name, 0, seen_at from pollers
      ) seen
      group by name
      order by 3 desc`,
  );
}

async function readFailing(pool: Pool): Promise<FailingWebhook[]> {
  return pool.run(
    (sql) => sql<FailingWebhook[]>`
      with newest as materialized (
        select webhook_id, recorded_at, outcome from attempts
        where recorded_at > now() - interval '1 hour'
        order by recorded_at desc limit ${LOOKED_AT}
      )
      select f.webhook_id as "webhookId", p.name as partner, w.url, f.failures, f.last_at as "lastAt",
             f.last_outcome as "lastOutcome"
      from (
        select webhook_id, count(*)::int as failures, max(recorded_at) as last_at,
               (array_agg(outcome order by recorded_at desc))[1] as last_outcome
        from newest where outcome <> 'entregue' group by webhook_id
      ) f
      join webhooks w on w.id = f.webhook_id
      join partners p on p.id = w.partner_id
      order by f.failures desc
      limit 50`,
  );
}
