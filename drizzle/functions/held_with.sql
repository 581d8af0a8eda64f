-- How many deliveries of each partner a poller holds (`holders` and `held`) with those of `came` that it has just claimed under the
-- name `claim`, and how many these are.
-- Without a search path of its own, so that it becomes part of the statement that asks.
create or replace function held_with(claim text, came arrivals[], holders uuid[], held int[])
  returns table (holders uuid[], held int[], added bigint)
  language sql stable
begin atomic
  select coalesce(array_agg(partner), '{}'), coalesce(array_agg(slots), '{}'), coalesce(sum(n), 0)::bigint
  from (
    select partner, sum(own)::int as slots, count(*) filter (where is_new) as n
    from (
      select partner, own, false from unnest(held_with.holders, held_with.held) as listed (partner, own)
      union all
      select d.partner_id, 1, true
      from unnest(came) a join deliveries d on d.id = a.delivery_id and d.partner_id = a.partner_id and d.claimed_by = claim
    ) as all_held (partner, own, is_new)
    group by partner
  ) by_partner;
end;
