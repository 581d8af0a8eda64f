-- A webhook subscribes to emitted events and to notices, each at most once, at least one.
create or replace function check_subscription() returns trigger
  language plpgsql set search_path from current
as $$
begin
  -- One that is unknown, or stands twice, is missing in the count.
  if cardinality(new.events) = 0
     or cardinality(new.events) <> (select count(*) from event_types where name = any (new.events) and kind in ('emitted', 'notice'))
  then
    raise exception 'a webhook subscribes to emitted events and notices of the catalog, each at most once, not to {%}',
      array_to_string(new.events, ', ') using errcode = 'CT404';
  end if;
  return new;
end
$$;

create or replace trigger webhooks_are_of_the_catalog before insert or update of events on webhooks
  for each row execute function check_subscription();
