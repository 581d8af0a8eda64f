-- Which of the deliveries that a claim found are within the shares of their partners, each as if all before it were taken:
-- `partners` has the partner of each. A partner gets no more than its share of the poller's slots (src/delivery/queue/slots.ts):
-- partner `holders[i]` holds `held[i]` of them, partners that are not listed hold few, and of the `at_most` that are free
-- `reserve` are kept for those. With a null `reserve`, shares are not looked at.
-- A lane whose partner has its share stays due where it is. We tried putting it off for 5 s: the pollers slept beside a
-- backlog.
create or replace function within_share(partners uuid[], at_most bigint, reserve int, holders uuid[], held int[]) returns boolean[]
  language sql stable set search_path from current
as $$
  select array_agg(slots <= partner_share(at_most - rank, reserve) order by rank) filter (where rank > 0)
  from (
    select rank, sum(slots) over (partition by partner_id order by rank) as slots
    from (
      select partner_id, rank, 1 as slots from unnest(partners) with ordinality as found (partner_id, rank)
      union all
      select * from unnest(holders, array_fill(0, array[cardinality(holders)]), held)
    ) each
  ) ranked
$$;
