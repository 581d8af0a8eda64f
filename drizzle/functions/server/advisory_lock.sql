-- The one table of advisory locks: what each is for. A lock of this installation alone: two of them in one database have
-- two schemas, whose number is the key's upper half. (The locks of pollers' names have keys of two halves: living_pollers.)
create or replace function advisory_lock(purpose text) returns bigint
  language sql stable parallel safe
return current_schema()::regnamespace::oid::bigint << 32 | case purpose
  when 'appending' then 1 -- held, shared, by a transaction that appends events (append_event)
  when 'sealing' then 4 -- held by the sealer at work (src/audit/seals/seal.ts)
  when 'numbering' then 5 -- held by who begins a series of loan numbers (next_loan_number)
  when 'projecting' then 6 -- held by the projector at work (src/core/projection/projector.ts)
  when 'judging' then 8 -- held by the poller that judges failing webhooks (src/delivery/queue/maintenance/failing.ts)
  when 'raising' then 9 -- held for a moment, shared, by who takes a loan number, and alone by who raises a series (raise_loan_numbers)
  when 'ordering erasures' then 10 -- held by who orders that a worker be forgotten (src/core/workers/order-erasure.ts)
  when 'archiving' then 11 -- held by who registers an act of a month (src/archive/acts.ts), and, shared, by who removes its rows (remove_archived)
end;
