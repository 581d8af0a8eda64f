-- Lets a partner go; its history names the author and the reason. The API's own login may do this and nothing else to an
-- account: an operator lets a partner go on the page. Only carteiro_owner can undo it. Returns null if there is no such
-- partner, or it is the operator's own, which gets the notices; false if it is inactive already.
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
