-- The sessions of living pollers: each holds the shared lock of its poller's name under this installation's schema (sign_of_life). Two-part
-- keys are a space apart from advisory_lock's. On a hash collision (1 in 4e9 pairs) a dead poller looks alive; its claims then expire by
-- lease.
create or replace function living_pollers() returns table (number integer, backend integer)
  language sql volatile set search_path from current
begin atomic
  select objid::integer, pid
  from pg_locks
  where locktype = 'advisory' and objsubid = 2 and granted and classid = current_schema()::regnamespace
    and database = (select oid from pg_database where datname = current_database());
end;
