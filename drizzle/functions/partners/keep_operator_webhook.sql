-- Makes the operator's webhook what its variables say, with its line of history; a null URL deactivates it. Each poller that
-- starts calls it. It leaves a webhook alone that is as it should be, so any number of pollers leave one line.
create or replace function keep_operator_webhook(p_url text, p_encrypted_secret bytea, p_events text[]) returns void
  language plpgsql security definer set search_path from current
as $$
begin
  with made as (
    insert into partners (id, name) select operator_partner(), 'Operador (avisos)' where p_url is not null
    on conflict (id) do nothing returning *
  )
  insert into partner_history (partner_id, name, active, signing, documents, issuance, change, actor)
  select id, name, active, signing, documents, issuance, 'criacao', 'servico' from made;
  with ended as (
    update webhooks set active = false where p_url is null and id = operator_partner() and active returning *
  ),
  kept as (
    insert into webhooks as w (id, partner_id, url, events, encrypted_secret)
    select operator_partner(), operator_partner(), p_url, p_events, p_encrypted_secret where p_url is not null
    on conflict (id) do update
    set url = p_url, events = p_events, encrypted_secret = p_encrypted_secret, signs_from = null,
        previous_encrypted_secret = null, previous_until = null, active = true
    where (w.url, w.events, w.encrypted_secret, w.active) is distinct from (p_url, p_events, p_encrypted_secret, true)
    returning new.*, case
        when old.id is null then 'criacao'
        when not old.active then 'reativacao'
        when (old.url, old.events) is distinct from (p_url, p_events) then 'alteracao'
        else 'segredo_trocado'
      end as done
  )
  insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor, changed_at)
  select id, partner_id, url, events, active, done, 'servico', clock_timestamp() from kept
  union all
  select id, partner_id, url, events, active, 'desativacao', 'servico', clock_timestamp() from ended;
end
$$;
