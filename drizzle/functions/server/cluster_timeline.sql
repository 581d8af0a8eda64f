-- The timeline of this PostgreSQL cluster. While it recovers, and nobody writes, it is that of the last restart point: rows of
-- a newer timeline are then shown a little later.
create or replace function cluster_timeline() returns integer
  language sql volatile set search_path from current
return case
  when pg_is_in_recovery() then (select timeline from cluster_control())
  else ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int
end;
