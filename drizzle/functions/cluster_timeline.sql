-- The timeline of this PostgreSQL cluster. While it recovers, where nobody writes, that of its last restart point: then rows of a newer one
-- are shown a little later.
create or replace function cluster_timeline() returns integer
  language sql volatile set search_path from current
return case
  when pg_is_in_recovery() then (select timeline_id from pg_control_checkpoint())
  else ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int
end;
