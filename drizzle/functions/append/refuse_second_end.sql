-- Refuses a second end of one registration, with CT409: the first core has decided, and the second one learns how. Of two ends
-- at once the stream's version refuses one, because both are of the loan's stream.
create or replace function refuse_second_end(p_stream uuid, p_data json) returns void
  language plpgsql stable set search_path from current
as $$
declare
  ended events;
begin
  select * into ended from events e
  where e.stream = p_stream and e.type in ('averbacao.concluida', 'averbacao.falhou')
    and field_of(e.data, 'averbacao_id') = field_of(p_data, 'averbacao_id')
  limit 1;
  if found then
    raise exception 'registration % has ended: %, version %, by %', ended.data ->> 'averbacao_id', ended.type, ended.version, ended.actor
      using errcode = 'CT409', detail = format('{"version":%s}', stream_version(p_stream)),
            hint = 'read the stream''s core_deliveries and core_streams: the first end stands';
  end if;
end
$$;
