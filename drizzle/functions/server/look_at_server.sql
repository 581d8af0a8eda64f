-- The server's identity beside the known one. `seen_epoch` and `seen_tx` are the caller's last look: a server below them was set back
-- invisibly to its files, or is the old primary beside its promoted standby. That is stored, so every process learns of it.
create or replace function look_at_server(
  seen_epoch integer, seen_tx xid8, out fault text, out epoch integer, out next_tx xid8
)
  language plpgsql volatile security definer set search_path from current
as $$
declare
  note_every constant interval := interval '30 seconds';
begin
  epoch := current_epoch();
  next_tx := pg_snapshot_xmax(pg_current_snapshot());
  fault := server_fault();
  if not pg_is_in_recovery() then
    if epoch < seen_epoch then
      update installation i set timeline = seen_epoch - i.epoch_base, noted_at = clock_timestamp()
      where i.timeline < seen_epoch - i.epoch_base;
      fault := server_fault();
    elsif epoch = seen_epoch and next_tx < seen_tx then
      update installation i set next_tx = seen_tx, noted_at = clock_timestamp() where i.next_tx < seen_tx;
      fault := server_fault();
    elsif fault is null then
      update installation i
      set timeline = greatest(i.timeline, cluster_timeline()),
          next_tx = greatest(i.next_tx, look_at_server.next_tx),
          noted_at = clock_timestamp()
      where i.timeline < cluster_timeline() or i.noted_at < clock_timestamp() - note_every;
    end if;
  end if;
end
$$;
