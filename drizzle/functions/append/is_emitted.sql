-- Whether events of this type are sent to partners.
create or replace function is_emitted(type text) returns boolean
  language sql stable parallel safe set search_path from current
return exists (select from event_types where event_types.name = is_emitted.type and kind = 'emitted');
