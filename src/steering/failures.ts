/**
 * Which webhooks failed in the last hour, and how often.
 *
 * Of each kind of failure the newest {@link LOOKED_AT} are looked at, by an index that knows failures alone: in an outage the
 * counts are of what failed last. The newest failures of any kind together would step over all that arrived.
 * Another partner's outage may fill these. So where a kind is full and one partner is asked for, its newest {@link LOOKED_AT}
 * attempts are looked at too, and of each kind the greater count holds: neither counts more than there is.
 */
import { OUTCOMES } from '../contract/statuses.ts';
import type { Tx } from '../db/pool.ts';
import { LIST_PAGE } from './bounds.ts';
import { readLines, type WebhookLine } from './webhooks.ts';

/** The most failures of each kind, and the most attempts of a partner, that are read. */
const LOOKED_AT = 10_000;
const FAILURES = OUTCOMES.filter((outcome) => outcome !== 'entregue');

type FailingLine = WebhookLine & {
  /** Attempts that failed in the last hour; a lower bound where the counts are cut. */
  readonly failedLastHour: number;
};

export interface Failing {
  readonly rows: readonly FailingLine[];
  /** True when there were more failures than were looked at: then more may have failed, and others too. */
  readonly isCut: boolean;
}

/** `lines` with how often each failed; `partnerId` when all of them are of that partner. */
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

/** The webhooks with most failures, the worst first. */
export async function listFailing(sql: Tx, partnerId: string | undefined, limit = LIST_PAGE): Promise<Failing> {
  const rows = await sql<Failed[]>`
    ${failures(sql, partnerId)}
    select failed.*, cut.* from cut left join failed on true
    order by failed.failed desc nulls last, failed.id
    limit ${limit}`;
  const ids = rows.flatMap(({ id }) => (id === null ? [] : [id]));
  return joined(await readLines(sql, ids), rows);
}

/** One without an id says only whether the counts are cut. */
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

/** A sentence on what cut counts are counted from. */
export function cutText(partnerId: string | undefined): string {
  const ofPartner = partnerId === undefined ? '' : `, and of the newest ${LOOKED_AT} attempts of the partner`;
  const ofAll = `the newest ${LOOKED_AT} failures of each kind`;
  return `attempts that failed in the last hour are counted of ${ofAll}${ofPartner}; there were more`;
}

/** `failed`: each webhook that failed, of this partner or of all, and how often; `cut`: one row. */
function failures(sql: Tx, partnerId: string | undefined) {
  const partner = partnerId ?? null;
  return sql`
    with newest as materialized (
      select kind.outcome, found.*
      from unnest(${FAILURES as string[]}::text[]) as kind (outcome)
      cross join lateral (
        select webhook_id, partner_id from attempts
        where (outcome, recorded_at) > (kind.outcome, now() - interval '1 hour') and outcome <= kind.outcome
          and outcome <> 'entregue'
        order by outcome desc, recorded_at desc
        limit ${LOOKED_AT}
      ) found
    ),
    filled as materialized (
      select exists (select from newest group by outcome having count(*) = ${LOOKED_AT}) as is_any
    ),
    own as materialized (
      select webhook_id, outcome from attempts
      where (partner_id, recorded_at) > (${partner}::uuid, now() - interval '1 hour') and partner_id <= ${partner}::uuid
        and (select is_any from filled)
      order by partner_id desc, recorded_at desc
      limit ${LOOKED_AT}
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
      select is_any and (${partner}::uuid is null or (select count(*) from own) = ${LOOKED_AT}) as "isCut" from filled
    )`;
}
