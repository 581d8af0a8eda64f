-- Sets when and where the lanes of a claim are looked at next; claim_due has locked those at `places` and taken what find_due found.
-- Returns them as claim_due does. If `at_most` deliveries were found, the lanes behind the last of them have not had their turn.
--
-- If due deliveries remain, a lane is looked at again now, behind the lanes that wait already; else when its next delivery is
-- due or a lease ends. A saturated lane is looked at when the first lease ends; a free slot wakes it sooner. The lane whose
-- turn was cut short stays before the lanes that had none, unless it was the first: with few slots free it would be served for
-- ever. A lane of which nothing was taken because its partner reached its share in this same claim stays there, too.
-- Invariant: no pending delivery is due before `scan_from`, and no claimed one after `flying_to`. Both are counted anew, up to
-- the next due delivery: so a lost claim beyond the marks is found, too, and its lane is not due again and again.
create or replace function rearm_lanes(
  places tid[], turns bigint[], dues timestamptz[], are_within boolean[], at_most bigint, moment timestamptz
)
  returns table (
    id uuid, number int, event text, body bytea, loan_version int, traceparent text, salt bytea,
    webhook_id uuid, active boolean, partner_id uuid, url text, encrypted_secret bytea, previous_encrypted_secret bytea,
    encrypted_credentials bytea, claimed_at timestamptz, lost uuid[], is_full boolean, is_test boolean
  )
  language plpgsql volatile set search_path from current
as $$
#variable_conflict use_column
begin
  return query
  update lanes l
  set version = l.version + 1,
      saturated = s.flying >= s.max_in_flight,
      in_flight = s.flying,
      next_due_at = case
        when s.flying >= s.max_in_flight then s.first_claimed_at + lease()
        when s.quiet_until > moment and s.due_at <= moment then s.quiet_until
        when s.due_at <= moment then case when s.is_cut then l.next_due_at else moment end
        else least(s.due_at, s.first_claimed_at + lease())
      end,
      scan_from = least(l.next_scan_from, s.first_due, s.due_at, moment),
      next_scan_from = least(s.first_due, s.due_at, moment),
      flying_to = s.last_due
  from (
    select l.ctid, now.*, open.due_at, (mine.turn = turns[at_most] and mine.turn > 1) or (mine.n = 0 and mine.is_short) as is_cut
    from (
      select turn, count(due_at) filter (where is_within is not false) as n, bool_or(not is_within) as is_short, max(due_at) as last_due
      from (
        select turn, null as due_at, null as is_within from generate_series(1, coalesce(turns[at_most], cardinality(places))) turn
        union all
        select * from unnest(turns, dues, are_within)
      ) each
      group by turn
    ) mine
    join lanes l on l.ctid = places[mine.turn]
    left join lateral (
      select nullif(d.next_attempt_at, 'infinity') as due_at
      from deliveries d
      where d.webhook_id = l.webhook_id and d.partner_id = l.partner_id and d.status = 'pendente'
        and d.next_attempt_at >= l.scan_from and (d.claimed_at is null or d.claimed_at <= moment - lease())
      order by d.next_attempt_at limit 1
    ) open on true
    cross join lateral state_of_lane(l, moment, greatest(mine.last_due, open.due_at)) now
  ) s
  where l.ctid = s.ctid
  returning null::uuid, null::int, null::text, null::bytea, null::int, null::text, null::bytea, l.webhook_id, s.active, l.partner_id,
            s.url, s.encrypted_secret, s.previous_encrypted_secret, s.encrypted_credentials, moment, s.lost, s.slots <= 0, null::boolean;
end
$$;
