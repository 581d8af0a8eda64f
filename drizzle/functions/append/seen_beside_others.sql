-- What this statement can see, for `events.seen`; null where no other transaction is open: then it sees all transactions below its own,
-- which the row's `tx` tells, and 21 bytes are saved.
create or replace function seen_beside_others() returns pg_snapshot
  language sql stable parallel safe
return case
  when pg_snapshot_xmin(pg_current_snapshot()) <> pg_current_xact_id()
       or pg_snapshot_xmax(pg_current_snapshot()) <> pg_current_xact_id()
  then pg_current_snapshot()
end;
