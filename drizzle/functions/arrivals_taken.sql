-- The snapshot up to which this session has taken all arrivals (src/delivery/queue/arrivals.ts): at first the one that sees
-- nothing.
create or replace function arrivals_taken() returns pg_snapshot
  language sql stable
return coalesce(nullif(current_setting('carteiro.taken', true), ''), '1:1:')::pg_snapshot;
