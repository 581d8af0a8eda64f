-- For append_history, of the event number `n`: its payload as the log takes it, or what is wrong with it (acceptable_payload), with
-- the number of the event.
create or replace function history_payload(event events, n integer) returns json
  language plpgsql stable set search_path from current
as $$
declare
  code text;
  what text;
  advice text;
begin
  -- It came in before its worker was erased. Nobody knows what it held.
  if exists (select from events e where e.stream = event.stream and e.version = event.version and e.salt is null) then
    return event.data;
  end if;
  perform check_append(event.stream, 0, event.type, event.partner_id, event.data, 'import', null, event.occurred_at, 'backoffice');
  return acceptable_payload(event.stream, event.type, event.partner_id, coalesce(event.family, 'backoffice'), event.data);
exception when sqlstate 'CT400' or sqlstate 'CT403' or sqlstate 'CT404' then
  get stacked diagnostics code = returned_sqlstate, what = message_text, advice = pg_exception_hint;
  -- Of what is refused with CT403, an unknown partner alone names no key.
  raise exception '%', case when what like 'there is no partner %' then 'partner_id: ' || what else what end
    using errcode = code, hint = advice, detail = n;
end
$$;
