/**
 * Which webhooks failed in the last hour, and how often.
 *
 * Of each kind of failure the newest {@link LOOKED_AT} are looked at, by an index that knows failures alone: in an outage the
 * counts are of what failed last. The newest failures of any kind together would step over all that arrived.
 * Another partner's outage may fill these. So where one partner is asked for, its newest {@link LOOKED_AT} attempts are looked at.
 */
import { OUTCOMES } from '../contract/statuses.ts';
import type { Tx } from '../db/pool.ts';
import { LIST_PAGE } from './bounds.ts';
import { readLines, type WebhookLine } from './webhooks.ts';

/** The most failures of each kind, or the most attempts of a partner, that are read. */
const LOOKED_AT = 10_000;
const FAILURES = OUTCOMES.filter((outcome) => outcome !== 'entregue');

/** The webhooks with most failures, the worst first; `failedLastHour` is a lower bound where there were more than are read. */
export async function listFailing(
  sql: Tx,
  partnerId: string | undefined,
  limit = LIST_PAGE,
): Promise<(WebhookLine & { readonly failedLastHour: number })[]> {
  const failed = await sql<{ id: string; count: number }[]>`
    with failed as materialized (${partnerId === undefined ? ofAll(sql) : ofPartner(sql, partnerId)})
    select webhook_id as id, count(*)::int as count from failed
    group by webhook_id order by count desc, webhook_id limit ${limit}`;
  const counts = new Map(failed.map(({ id, count }) => [id, count]));
  const lines = await readLines(sql, [...counts.keys()]);
  return lines.map((line) => Object.assign(line, { failedLastHour: counts.get(line.id) ?? 0 }));
}

function ofAll(sql: Tx) {
  return sql`
    select found.webhook_id
    from unnest(${FAILURES as string[]}::text[]) as kind (outcome)
    cross join lateral (
      select webhook_id from attempts
      where (outcome, recorded_at) > (kind.outcome, now() - interval '1 hour') and outcome <= kind.outcome
        and outcome <> 'entregue'
      order by outcome desc, recorded_at desc
      limit ${LOOKED_AT}
    ) found`;
}

function ofPartner(sql: Tx, partnerId: string) {
  return sql`
    select webhook_id
    from (
      select webhook_id, outcome from attempts
      where (partner_id, recorded_at) > (${partnerId}::uuid, now() - interval '1 hour') and partner_id <= ${partnerId}::uuid
      order by partner_id desc, recorded_at desc
      limit ${LOOKED_AT}
    ) own
    where outcome <> 'entregue'`;
}
