import type { Tx } from '../../db/pool.ts';

export const STRANGE_OF = 10;
/** Deliveries among which they are looked for. */
const MAX_SCANNED = 100;

/**
 * Of the webhook `w`: how many of its newest {@link STRANGE_OF} 2xx answers no webhook receiver would give (is_strange_answer.sql), of how
 * many, and since when its URL is the current one.
 */
export function newestAnswers(sql: Tx) {
  return sql`
    select count(*)::int as looked, count(*) filter (where is_strange_answer(answer))::int as strange, min(started_at) as since
    from (
      select a.answer, a.started_at
      from (
        select d.id from (
          select id, status from deliveries where webhook_id = w.id order by event_id desc limit ${MAX_SCANNED}
        ) d where d.status = 'entregue' limit ${STRANGE_OF}
      ) d
      cross join lateral (
        select answer, started_at from attempts
        where delivery_id = d.id and outcome = 'entregue' order by number desc, late desc limit 1
      ) a
      where a.started_at > coalesce(
        (select max(changed_at) from webhook_history h where h.webhook_id = w.id and h.change = 'alteracao'), '-infinity')
    ) newest`;
}
