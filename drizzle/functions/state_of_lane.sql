-- What a claim asks of a lane that it has locked: how many of its deliveries are in flight, since when, and the first and last
-- time for which the claimed ones were due; which claims are over; how many may be in flight; and the parts of a request to its
-- webhook. An inactive webhook has no slot. Deliveries that were claimed since the lane was last written are due by `until`.
--
-- A lane gets no more slots than its window, and a single one while its webhook is `falhando`. While one of its attempts has
-- taken 5 s, it has 8 at most, as when it was new: otherwise a receiver that hangs now and then would get all slots of a poller
-- by its good answers in between.
-- A webhook whose URL has not answered 2xx yet (`refusals`) has one slot, and none until `quiet_until`: nobody there may have asked
-- for our deliveries (src/delivery/queue/consent.ts).
-- A webhook of a deactivated partner is inactive. Until a new secret signs, the previous secret signs alone.
-- Without a search path of its own, so that it becomes part of the statement that asks.
create or replace function state_of_lane(l lanes, moment timestamptz, until timestamptz default null)
  returns table (
    flying bigint, first_claimed_at timestamptz, first_due timestamptz, last_due timestamptz, lost uuid[], max_in_flight int,
    slots bigint, active boolean, url text, encrypted_secret bytea, previous_encrypted_secret bytea,
    encrypted_credentials bytea, quiet_until timestamptz
  )
  language sql stable
begin atomic
  select claimed.*, cap.size, case when w.active and p.active and (w.quiet_until > moment) is not true then cap.size - claimed.flying else 0 end,
         coalesce(w.active and p.active, false), w.url,
         case when w.signs_from > moment then w.previous_encrypted_secret else w.encrypted_secret end,
         case when (w.signs_from > moment) is not true and w.previous_until > moment then w.previous_encrypted_secret end,
         w.encrypted_credentials, w.quiet_until
  from (
    select count(*) filter (where d.claimed_at > moment - lease()) as flying,
           min(d.claimed_at) filter (where d.claimed_at > moment - lease()) as first_claimed_at,
           min(d.next_attempt_at) as first_due, max(d.next_attempt_at) as last_due,
           array_agg(d.id) filter (where d.claimed_at <= moment - lease()) as lost
    from deliveries d
    where d.webhook_id = l.webhook_id and d.partner_id = l.partner_id and d.status = 'pendente' and d.claimed_at is not null
      and d.next_attempt_at between l.scan_from and greatest(l.flying_to, until)
  ) claimed
  left join webhooks w on w.id = l.webhook_id and w.partner_id = l.partner_id
  cross join lateral (
    select least(l.max_in_flight, floor(l.window_size)::int,
                 case when l.failing_since is not null or w.refusals is not null then 1 end,
                 case when claimed.first_claimed_at <= moment - interval '5 seconds' then 8 end) as size
  ) cap
  left join partners p on p.id = l.partner_id;
end;
