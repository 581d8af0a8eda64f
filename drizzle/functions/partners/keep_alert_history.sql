-- Each change of where a partner's people are told leaves a line of the partner's history, as its account's changes do
-- (keep_partner_history.sql): that it changed, never the address.
create or replace function keep_alert_history() returns trigger
  language plpgsql security definer set search_path from current
as $$
begin
  insert into partner_history (partner_id, name, active, signing, documents, issuance, change, actor)
  select id, name, active, signing, documents, issuance, 'avisos',
         coalesce(nullif(current_setting('carteiro.actor', true), ''), session_user)
  from partners where id = coalesce(new.partner_id, old.partner_id);
  return null;
end
$$;

create or replace trigger alert_addresses_keep_history
  after insert or delete or update of address, confirmed_at on alert_addresses for each row
  execute function keep_alert_history();
