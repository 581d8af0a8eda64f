-- Whether a transaction that appends is under way. One expression: no cancellation comes between the two calls.
create or replace function is_appending(appending bigint) returns boolean
  language sql volatile
return not case when pg_try_advisory_lock(appending) then pg_advisory_unlock(appending) else false end;
