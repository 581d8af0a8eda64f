-- The snapshot of which this session has taken all arrivals (delivery/arrivals): at first the one that sees nothing.
create or replace function arrivals_taken() returns pg_snapshot
  language sql stable set search_path from current
return coalesce(nullif(current_setting('carteiro.taken', true), ''), '1:1:')::pg_snapshot;
