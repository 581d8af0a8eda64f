-- The sessions of living pollers: each holds the lock of its poller's name, shared, under the schema of this installation
-- (sign_of_life). The two halves of such a key are a space of their own, apart from advisory_lock's.
-- Two names have the same number once in 4,000,000,000 pairs. Then a dead poller seems to live as long as its namesake, and its
-- claims end with their lease.
create or replace function living_pollers() returns table (number integer, backend integer)
  language sql volatile set search_path from current
begin atomic
  select objid::integer, pid
  from pg_locks
  where locktype = 'advisory' and objsubid = 2 and granted and classid = current_schema()::regnamespace
    and database = (select oid from pg_database where datname = current_database());
end;
