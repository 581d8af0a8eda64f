-- Arrivals by lane: the deliveries that they name (`ids`, null: none), the times for which these are due, whether the
-- lane must look at everything again, whether slots came free, and the answers of its receiver (next_window.sql). `tells_more`:
-- more than first attempts and free slots, so the lane must be armed.
-- Without a search path of its own, so that it becomes part of the statement that asks.
create or replace function arrivals_by_lane(came arrivals[])
  returns table (
    webhook_id uuid, partner_id uuid, arrivals arrivals[], named bigint, ids uuid[], due_at timestamptz, last_due_at timestamptz,
    looks boolean, has_free_slot boolean, is_silent boolean, tells_more boolean, good bigint, bad bigint, good_ms float8
  )
  language sql stable
begin atomic
  select a.webhook_id, a.partner_id, array_agg(a), count(a.delivery_id),
         array_agg(a.delivery_id) filter (where a.delivery_id is not null), min(a.due_at), max(a.due_at),
         bool_or(a.kind = 'look'), bool_or(a.kind in ('slot_free', 'slot_free_silent')), bool_or(a.kind = 'slot_free_silent'),
         bool_or(a.kind in ('look', 'slot_free_silent') or coalesce(a.bad, 0) > 0 or a.kind = 'due' and a.delivery_id is null),
         coalesce(sum(a.good), 0), coalesce(sum(a.bad), 0), coalesce(sum(a.good_ms), 0)::float8
  from unnest(came) a
  group by a.webhook_id, a.partner_id;
end;
