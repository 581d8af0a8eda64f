/**
 * Which webhooks failed in the last hour, and how often.
 *
 * Of each kind of failure the newest {@link LOOKED_AT} are looked at, by an index that knows failures alone: in an outage the
 * counts are of what failed last. The newest failures of any kind together would step over all that arrived.
 */
import { OUTCOMES } from '../contract/statuses.ts';
import type { Tx } from '../db/pool.ts';
import { LIST_PAGE } from './bounds.ts';
import { readLines, type WebhookLine } from './webhooks.ts';

const LOOKED_AT = 10_000;
const FAILURES = OUTCOMES.filter((outcome) => outcome !== 'entregue');

export type FailingLine = WebhookLine & {
  /** Attempts that failed in the last hour. */
  readonly failedLastHour: number;
};

/** `lines` with how often each failed. */
export async function withFailures(sql: Tx, lines: readonly WebhookLine[]): Promise<FailingLine[]> {
  const ids = lines.map(({ id }) => id);
  const rows = await sql<Failed[]>`
    select f.webhook_id as id, count(*)::int as failed
    from (${failures(sql)}) f
    where f.webhook_id = any (${ids}::uuid[])
    group by f.webhook_id`;
  return joined(lines, rows);
}

/** Those that fail most, the worst first. */
export async function listFailing(sql: Tx, partnerId: string | undefined, limit = LIST_PAGE): Promise<FailingLine[]> {
  const rows = await sql<Failed[]>`
    select f.webhook_id as id, count(*)::int as failed
    from (${failures(sql)}) f
    where ${partnerId ?? null}::uuid is null or f.partner_id = ${partnerId ?? null}
    group by f.webhook_id
    order by failed desc, f.webhook_id
    limit ${limit}`;
  const ids = rows.map(({ id }) => id);
  return joined(await readLines(sql, ids), rows);
}

interface Failed {
  readonly id: string;
  readonly failed: number;
}

function joined(lines: readonly WebhookLine[], rows: readonly Failed[]): FailingLine[] {
  const failed = new Map(rows.map((row) => [row.id, row.failed]));
  return lines.map((line) => Object.assign(line, { failedLastHour: failed.get(line.id) ?? 0 }));
}

function failures(sql: Tx) {
  return sql`
    select newest.webhook_id, newest.partner_id
    from unnest(${FAILURES as string[]}::text[]) as kind (outcome)
    cross join lateral (
      select webhook_id, partner_id from attempts
      where (outcome, recorded_at) > (kind.outcome, now() - interval '1 hour') and outcome <= kind.outcome
        and outcome <> 'entregue'
      order by outcome desc, recorded_at desc
      limit ${LOOKED_AT}
    ) newest`;
}
