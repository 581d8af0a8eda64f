/**
 * Which webhooks failed in the last hour, and how often.
 * Of each kind of failure the newest {@link MAX_SCANNED} are read, by an index of failures alone; in an outage the counts cover the newest
 * failures only. Another partner's outage may fill these. So where a kind is full and one partner is asked for, its newest {@link
 * MAX_SCANNED} attempts are read too, and the greater count holds: neither counts too many.
 */
import { FAILURE_OUTCOMES } from '../contract/statuses.ts';
import type { Tx } from '../db/pool.ts';
import { LIST_PAGE } from './bounds.ts';
import { readLines, type WebhookLine } from './webhooks.ts';

/** Failures read per kind, and attempts read per partner, at most. */
const MAX_SCANNED = 10_000;

type FailingLine = WebhookLine & {
  /** In the last hour; a lower bound where the counts are cut. */
  readonly failedLastHour: number;
};

export interface Failing {
  readonly rows: readonly FailingLine[];
  /** There were more failures than were read: counts may be higher, and other webhooks may have failed. */
  readonly isCut: boolean;
}

/** `lines` with their failures; `partnerId` when all are of that partner. */
export async function withFailures(
  sql: Tx,
  lines: readonly WebhookLine[],
  partnerId: string | undefined,
): Promise<Failing> {
  const ids = lines.map(({ id }) => id);
  const rows = await sql<Failed[]>`
    ${failures(sql, partnerId)}
    select failed.*, cut.* from cut left join failed on failed.id = any (${ids}::uuid[])`;
  return joined(lines, rows);
}

/** Webhooks by number of failures, worst first. */
export async function listFailing(sql: Tx, partnerId: string | undefined, limit = LIST_PAGE): Promise<Failing> {
  const rows = await sql<Failed[]>`
    ${failures(sql, partnerId)}
    select failed.*, cut.* from cut left join failed on true
    order by failed.failed desc nulls last, failed.id
    limit ${limit}`;
  const ids = rows.flatMap(({ id }) => (id === null ? [] : [id]));
  return joined(await readLines(sql, ids), rows);
}

/** A row without an id says only whether the counts are cut. */
interface Failed {
  readonly id: string | null;
  readonly failed: number | null;
  readonly isCut: boolean;
}

function joined(lines: readonly WebhookLine[], rows: readonly Failed[]): Failing {
  const failed = new Map(rows.map((row) => [row.id, row.failed]));
  return {
    rows: lines.map((line) => Object.assign(line, { failedLastHour: failed.get(line.id) ?? 0 })),
    isCut: rows.some(({ isCut }) => isCut),
  };
}

/** What cut counts are based on. */
export function cutText(partnerId: string | undefined): string {
  const ofPartner = partnerId === undefined ? '' : `, and of the newest ${MAX_SCANNED} attempts of the partner`;
  const ofAll = `the newest ${MAX_SCANNED} failures of each kind`;
  return `attempts that failed in the last hour are counted of ${ofAll}${ofPartner}; there were more`;
}

/** `failed`: each failed webhook of this partner, or of all, with its count; `cut`: one row. */
function failures(sql: Tx, partnerId: string | undefined) {
  const partner = partnerId ?? null;
  return sql`
    with newest as materialized (
      select kind.outcome, found.*
      from unnest(${FAILURE_OUTCOMES as string[]}::text[]) as kind (outcome)
      cross join lateral (
        select webhook_id, partner_id from attempts
        where (outcome, recorded_at) > (kind.outcome, now() - interval '1 hour') and outcome <= kind.outcome
          and outcome <> 'entregue'
        order by outcome desc, recorded_at desc
        limit ${MAX_SCANNED}
      ) found
    ),
    filled as materialized (
      select exists (select from newest group by outcome having count(*) = ${MAX_SCANNED}) as is_any
    ),
    own as materialized (
      select webhook_id, outcome from attempts
      where (partner_id, recorded_at) > (${partner}::uuid, now() - interval '1 hour') and partner_id <= ${partner}::uuid
        and (select is_any from filled)
      order by partner_id desc, recorded_at desc
      limit ${MAX_SCANNED}
    ),
    counts as (
      select webhook_id, outcome, count(*)::int as failed from newest
      where ${partner}::uuid is null or partner_id = ${partner}::uuid
      group by webhook_id, outcome
      union all
      select webhook_id, outcome, count(*)::int from own where outcome <> 'entregue' group by webhook_id, outcome
    ),
    failed as (
      select webhook_id as id, sum(failed)::int as failed
      from (select webhook_id, max(failed) as failed from counts group by webhook_id, outcome) of_kind
      group by webhook_id
    ),
    cut as (
      select is_any and (${partner}::uuid is null or (select count(*) from own) = ${MAX_SCANNED}) as "isCut" from filled
    )`;
}
