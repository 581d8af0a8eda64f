-- Puts events back that left the log, as their months' files have them, and ends the absence of the loans `p_streams`, of which none may
-- be missing now: each comes back as it left, to the last byte, or the call fails. Events of other loans are not taken.
create or replace function bring_back(p_events json, p_streams uuid[]) returns void
  language plpgsql security definer set search_path from current
as $$
declare
  strange uuid;
begin
  perform from archived_streams s
  where s.stream = any (p_streams || array(select (e ->> 'stream')::uuid from json_array_elements(p_events) e))
  order by s.stream for update;
  insert into events (position, tx, occurred_at, version, fan_out, catalog_version, epoch, imported, is_of_loan, id, stream, partner_id,
                      type, other_family, data, actor, request_id, seen, traceparent, salt)
  overriding system value
  select a.* from archived_events(p_events) a join archived_streams s on s.stream = a.stream
  where a.id = any (s.event_ids)
  on conflict do nothing;
  select s.stream into strange from archived_streams s
  where s.stream = any (p_streams) and s.digest is distinct from stream_digest(s.stream, s.version) limit 1;
  if found then
    raise exception 'the archived files do not have the history of loan % as it left', strange
      using errcode = 'CT409', hint = 'archive verify tells which file is lost or altered: put a copy of it in its place';
  end if;
  delete from archived_streams where stream = any (p_streams);
end
$$;
