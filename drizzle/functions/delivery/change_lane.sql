-- A lane whose webhook has changed is read again by its keeper before anything more of it is claimed. It waits for a claim that
-- holds the lane: once the change has committed, no claim under the old state commits.
create or replace function change_lane() returns trigger
  language plpgsql security definer set search_path from current
as $$
begin
  update lanes set changed = true where webhook_id = new.id and keeper is not null;
  return null;
end
$$;
create or replace trigger webhooks_change_lanes after update on webhooks for each row
  when (old.* is distinct from new.*) execute function change_lane();
