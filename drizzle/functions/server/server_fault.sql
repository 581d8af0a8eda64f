-- Why this server is not the known one; null when it is:
--   copy     another system identifier: a restored dump, a logical copy
--   behind   timeline or transactions below those seen before: a disk that was set back, a log without `installation`
-- A promotion or point-in-time recovery is no fault: it keeps the identifier and raises the timeline, and so the epoch. Until `adopt`,
-- nobody may append, deliver or seal: new rows would lie among old ones, behind partners' cursors and the seals. The newest event's id has
-- its time, which covers a copy without `installation`. A standby has no fault, because nobody writes there.
create or replace function server_fault() returns text
  language sql volatile set search_path from current
return (
  select case
    when i.system_identifier is null or i.system_identifier <> (select system_identifier from cluster_control()) then 'copy'
    when pg_is_in_recovery() then null
    when cluster_timeline() < i.timeline or here.next_tx < i.next_tx or newest.epoch > here.epoch or last_seal.end_epoch > here.epoch
      or (newest.epoch = here.epoch and newest.tx >= here.next_tx)
      or (last_seal.end_epoch = here.epoch and last_seal.end_tx > xid8send(here.next_tx)::bigint) then 'behind'
  end
  from (values (true)) one (is_only)
  left join installation i using (is_only)
  cross join lateral (
    select (cluster_timeline() + i.epoch_base)::smallint as epoch, pg_snapshot_xmax(pg_current_snapshot()) as next_tx
  ) here
  left join lateral (select epoch, tx from events order by id desc limit 1) newest on true
  left join lateral (select end_epoch, end_tx from seals order by number desc limit 1) last_seal on true
);
