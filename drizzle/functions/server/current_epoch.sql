-- The epoch that rows written now get; the same expression is the default of each column `epoch`.
create or replace function current_epoch() returns smallint
  language sql stable set search_path from current
return (select (cluster_timeline() + epoch_base)::smallint from installation);
