-- A poller's sign of life: a lock under its name, held by its session. Returns whether this session holds it; `may_take` takes it where
-- not, which only callers whose statements all reach one session may set. The lock is shared, so a reconnected poller takes it at once
-- while its old session lingers; nobody takes it exclusively, so nobody waits.
--   backend         this session's process number: a pooler tells its clients another
--   server          when this server started; null for a standby, where nobody works
--   server_age_ms   since then, on the server's clock
--   living          the numbers of all living pollers
create or replace function sign_of_life(
  poller text, may_take boolean,
  out is_held boolean, out is_new boolean, out backend integer, out server text, out server_age_ms float8, out living integer[]
)
  language plpgsql volatile set search_path from current
as $$
declare
  own constant integer := poller_number(poller);
begin
  backend := pg_backend_pid();
  select coalesce(bool_or(l.backend = pg_backend_pid() and l.number = own), false), coalesce(array_agg(distinct l.number), '{}')
  into is_held, living
  from living_pollers() l;
  is_new := may_take and not is_held;
  if is_new then
    perform pg_advisory_lock_shared(current_schema()::regnamespace::oid::integer, own);
    is_held := true;
    living := array_append(living, own);
  end if;
  server := case when not pg_is_in_recovery() then pg_postmaster_start_time()::text end;
  server_age_ms := extract(epoch from clock_timestamp() - pg_postmaster_start_time()) * 1000;
end
$$;
