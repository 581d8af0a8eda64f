-- Each change of a partner's account leaves a line, whatever statement made it. Who and why come from the settings
-- `carteiro.actor` and `carteiro.reason` of the transaction; without them it is the login's name.
create or replace function keep_partner_history() returns trigger
  language plpgsql security definer set search_path from current
as $$
begin
  insert into partner_history (partner_id, name, active, signing, documents, issuance, change, actor, reason)
  values (new.id, new.name, new.active, new.signing, new.documents, new.issuance,
          case when new.active = old.active then 'alteracao' when new.active then 'reativacao' else 'desativacao' end,
          coalesce(nullif(current_setting('carteiro.actor', true), ''), session_user),
          nullif(current_setting('carteiro.reason', true), ''));
  return null;
end
$$;

create or replace trigger partners_keep_history
  after update on partners for each row
  -- One by one: a dump nests a comparison of rows otherwise, and would leave another definition behind.
  when (old.name is distinct from new.name or old.active is distinct from new.active or old.signing is distinct from new.signing
        or old.documents is distinct from new.documents or old.issuance is distinct from new.issuance)
  execute function keep_partner_history();
