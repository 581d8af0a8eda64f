-- Keeps each change of the event catalog, whoever makes it. What a new installation begins with is no change.
create or replace function keep_catalog_history() returns trigger
  language plpgsql set search_path from current
as $$
begin
  if exists (select from installation) then
    insert into system_history (about, name, value, actor)
    values ('catalogo', coalesce(new.name, old.name),
            case when new.name is not null then
              json_build_object('versao', new.version, 'tipo', new.kind, 'familias', new.families, 'payload', new.payload)::text end,
            session_user);
  end if;
  return null;
end
$$;

create or replace trigger event_types_keep_history
  after insert or update or delete on event_types
  for each row execute function keep_catalog_history();
