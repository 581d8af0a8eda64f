-- What tells this server from another, and the timeline of its last restart point. Managed servers may keep pg_control_* from the
-- owner: then the identifier is 0, and a copy is known by its counts of transactions alone (server_fault).
create or replace function cluster_control(out system_identifier bigint, out timeline integer)
  language plpgsql stable security definer set search_path from current
as $$
begin
  if has_function_privilege('pg_control_system()', 'execute') and has_function_privilege('pg_control_checkpoint()', 'execute') then
    select s.system_identifier, c.timeline_id into cluster_control.system_identifier, cluster_control.timeline
    from pg_control_system() s, pg_control_checkpoint() c;
  else
    select 0, max(i.timeline) into cluster_control.system_identifier, cluster_control.timeline from installation i;
  end if;
end
$$;
