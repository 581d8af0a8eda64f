/** The content of an alert `atraso` or `erro`: how many deliveries of a webhook failed, the first of them, and why. */
import { LATE_AFTER, type LossKind, type Outcome } from '../contract/statuses.ts';
import type { Tx } from '../db/pool.ts';

/** Deliveries are counted up to this many; one more means more. */
export const LOSSES_COUNTED = 1_000;

export interface Loss {
  readonly count: number;
  readonly deliveryId: string;
  readonly event: string;
  readonly createdAt: Date;
  /** The loan's number, while it has none its id; null: the event is of no loan. */
  readonly loan: string | null;
  /** When the first attempt of the first delivery began. */
  readonly since: Date;
  /** Of the newest attempt of the first delivery. */
  readonly outcome: Outcome;
  readonly statusCode: number | null;
}

/** Of `erro`, since the last hour's message or this hour's start; of `atraso`, also those late now. Null: none is left. */
export async function readLoss(
  sql: Tx,
  { subject, kind, happenedAt, channel }: { subject: string; kind: LossKind; happenedAt: Date; channel: string },
): Promise<Loss | null> {
  const [loss] = await sql<Loss[]>`
    with ended as (
      select id, event_id, finished_at from deliveries
      where webhook_id = ${subject} and status = 'erro' and is_test is null order by event_id desc limit ${LOSSES_COUNTED + 1}
    ),
    waiting as (
      select id, event_id from (
        select id, event_id, failures from deliveries
        where webhook_id = ${subject} and status = 'pendente' order by next_attempt_at desc limit ${LOSSES_COUNTED + 1}
      ) newest
      where failures >= ${LATE_AFTER} and ${kind === 'atraso'}
    ),
    lost as (
      select id, event_id from ended
      where finished_at >= coalesce(
        (select min(sent_at) from alerts
         where subject = ${subject} and kind = ${kind} and channel = ${channel}
           and happened_at = ${happenedAt}::timestamptz - interval '1 hour'),
        ${happenedAt})
      union all select id, event_id from waiting
    )
    select (select count(*)::int from lost) as count, first.id as "deliveryId", e.type as event,
           uuid_extract_timestamp(e.id) as "createdAt",
           coalesce((select number from loans where id = e.stream), e.data ->> 'numero_emprestimo', e.data ->> 'emprestimo_id') as loan,
           (select min(started_at) from attempts where delivery_id = first.id) as since,
           newest.outcome, newest.status_code as "statusCode"
    from (select id, event_id from lost order by event_id limit 1) first
    join events e on e.id = first.event_id
    cross join lateral (
      select outcome, status_code from attempts where delivery_id = first.id order by number desc, late limit 1
    ) newest`;
  return loss ?? null;
}
