-- Deactivates a partner, with author and reason in its history: the only change of an account that the API's own login may make. Null for
-- an unknown partner or the operator's own; false if it is inactive already.
create or replace function deactivate_partner(p_id uuid, p_actor text, p_reason text) returns boolean
  language plpgsql security definer set search_path from current
as $$
declare
  was_active boolean;
begin
  select active into was_active from partners where id = p_id and id <> operator_partner() for no key update;
  if was_active then
    perform set_config('carteiro.actor', p_actor, true), set_config('carteiro.reason', coalesce(p_reason, ''), true);
    update partners set active = false where id = p_id;
  end if;
  return was_active;
end
$$;
