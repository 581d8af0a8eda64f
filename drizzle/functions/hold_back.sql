-- Keeps the order of loans, for webhooks whose partner asked for it (`lanes.in_order`). It judges the first `at_most` due deliveries
-- of each of these locked lanes, returns the deliveries that may be taken, and makes the others wait.
--
-- Invariant: of one loan and webhook one delivery is in flight at a time, and none is taken while an earlier version is
-- pending. A delivery may be taken if no other delivery of its loan is claimed and no earlier one is pending. Judging and taking
-- happen under the lane's lock, and nothing is claimed without that lock. The claim takes only deliveries that were judged; a
-- delivery that an append or a resend made due meanwhile is judged next time.
-- A delivery that must wait is due at `infinity`, where no scan comes by, and the delivery that it waits for is marked `awaited`.
-- Both commit together. The marked row is locked with SKIP LOCKED: while a record holds it, nothing waits for that lock, and the
-- delivery stays due. So no wake-up is missed: either the record finds the mark, or this function finds the record's lock or end.
-- While a delivery of a loan waits, one pending delivery of that loan is marked and does not wait. Its end makes the first waiting
-- delivery due and hands the mark on (release_next_of_loan.sql). Should all deliveries of a loan wait, the loan's next delivery
-- makes the first of them due, or the sweep does (src/delivery/queue/upkeep/sweep.ts).
-- A suspended delivery holds back those behind it only while its webhook's suspended ones are being resumed
-- (`lanes.resumes_until`). They are not marked for it, but put off for 30 s, or until then if that is sooner, and judged anew:
-- so a resumption that died strands none. A resumption that ends makes them due (src/delivery/partner/activation.ts). We tried
-- 1 s: 6,000 deliveries of a lane were written again in each of the 300 s, and no claim took one. A delivery in `erro` that is
-- sent again after later ones arrived comes late, alone.
-- Crash: this is part of the claim's transaction.
-- Measured alternative: deliveries that must wait stay due, and each claim judges them. Beside 9,000 that waited for 1,000 in
-- flight, a claim took 37 ms, and judging them again 1,961 ms more (on a busy machine). Deciding it in the append would cost
-- every append, and resent or resumed deliveries would have to be decided again.
-- Each look-up is by key and limited, so that no plan reads a table for it, whatever the statistics say.
create or replace function hold_back(locked tid[], moment timestamptz, at_most bigint) returns uuid[]
  language sql volatile set search_path from current
as $$
  with judged as materialized (
    select due.id, due.partner_id, other.id as awaited_id, other.is_earlier,
           case when other.is_suspended then least(moment + interval '30 seconds', due.resumes_until) end as put_off_to
    from due_in_order(locked, moment, at_most) due
    left join lateral first_ahead(due.webhook_id, due.partner_id, due.stream, due.version, due.is_resuming) other on due.is_of_loan
  ),
  held as materialized (
    select judged.id, judged.partner_id, other.id as awaited_id, other.is_waiting
    from judged
    cross join lateral (
      select o.id, o.next_attempt_at = 'infinity' as is_waiting
      from deliveries o
      where o.id = judged.awaited_id and o.partner_id = judged.partner_id and o.status = 'pendente'
        and (judged.is_earlier or o.claimed_at is not null)
      limit 1
      for no key update skip locked
    ) other
  ),
  change as materialized (
    select id, bool_or(waits) as waits, bool_or(is_awaited) as is_awaited, bool_or(wakes) as wakes, max(put_off_to) as put_off_to
    from (
      select id, true as waits, false as is_awaited, false as wakes, null::timestamptz as put_off_to from held
      union all
      select awaited_id, false, true, is_waiting, null from held
      union all
      select id, false, false, false, put_off_to from judged where put_off_to is not null
    ) each
    group by id
  ),
  changed as (
    update deliveries d
    set next_attempt_at = case
          when c.waits then 'infinity'
          when c.put_off_to is not null then c.put_off_to
          when c.wakes then moment
          else d.next_attempt_at
        end,
        awaited = case when c.is_awaited then true else d.awaited end
    from change c
    where d.id = any (array(select id from change)) and d.partner_id = any (array(select distinct partner_id from judged))
      and c.id = d.id and (c.waits or c.put_off_to is not null or c.wakes or d.awaited is not true)
  )
  select array_agg(id) from judged where awaited_id is null
$$;
