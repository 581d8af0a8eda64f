-- The arrivals of a lane that somebody else has locked (arrivals_by_lane), to be inserted again: one row for what is due, one
-- for slots that came free. A row without a kind is none.
-- Without a search path of its own, so that it becomes part of the statement that asks.
create or replace function told_again(
  looks boolean, due_at timestamptz, has_free_slot boolean, is_silent boolean, good bigint, bad bigint, good_ms float8
)
  returns table (kind arrival_kind, due_at timestamptz, good int, bad int, good_ms real)
  language sql stable
begin atomic
  values (case when looks then 'look'::arrival_kind when told_again.due_at is not null then 'due' end,
          case when not looks then told_again.due_at end, null::int, null::int, null::real),
         (case when is_silent then 'slot_free_silent'::arrival_kind when has_free_slot then 'slot_free' end,
          null, told_again.good::int, told_again.bad::int, told_again.good_ms::real);
end;
