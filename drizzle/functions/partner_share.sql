-- How many of a poller's slots a partner may hold while `free` are free: 8, or 16 for each free one beyond the `reserve`, if
-- that is more (src/delivery/queue/slots.ts). With a null `reserve`, shares are not looked at.
create or replace function partner_share(free bigint, reserve int) returns bigint
  language sql immutable parallel safe
return case when reserve is null then 9223372036854775807 else greatest(8, 16 * (free - reserve)) end;
