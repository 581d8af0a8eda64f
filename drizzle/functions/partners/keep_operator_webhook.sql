-- Makes the operator's webhook what its variables say, with its line of history; a null URL deactivates it. Each poller that
-- starts calls it. It leaves a webhook alone that is as it should be, so any number of pollers leave one line.
create or replace function keep_operator_webhook(p_url text, p_encrypted_secret bytea, p_events text[]) returns void
  language plpgsql security definer set search_path from current
as $$
declare
  own constant uuid := operator_partner();
  before webhooks;
  done text;
begin
  if p_url is not null then
    with made as (
      insert into partners (id, name) values (own, 'Operador (avisos)') on conflict (id) do nothing returning *
    )
    insert into partner_history (partner_id, name, active, signing, documents, issuance, change, actor)
    select id, name, active, signing, documents, issuance, 'criacao', 'servico' from made;
  end if;
  select * into before from webhooks where id = own for no key update;
  if before.id is null then
    if p_url is null then
      return;
    end if;
    insert into webhooks (id, partner_id, url, events, encrypted_secret) values (own, own, p_url, p_events, p_encrypted_secret)
    on conflict (id) do nothing;
    done := case when found then 'criacao' end;
  elsif p_url is null then
    update webhooks set active = false where id = own and active;
    done := case when found then 'desativacao' end;
  else
    update webhooks
    set url = p_url, events = p_events, encrypted_secret = p_encrypted_secret, signs_from = null,
        previous_encrypted_secret = null, previous_until = null, active = true
    where id = own
      and (url, events, encrypted_secret, active) is distinct from (p_url, p_events, p_encrypted_secret, true);
    done := case
      when not found then null
      when not before.active then 'reativacao'
      when (before.url, before.events) is distinct from (p_url, p_events) then 'alteracao'
      else 'segredo_trocado'
    end;
  end if;
  insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor, changed_at)
  select id, partner_id, url, events, active, done, 'servico', clock_timestamp() from webhooks where id = own and done is not null;
end
$$;
