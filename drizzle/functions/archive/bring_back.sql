-- Puts events back that left the log, as their months' files have them, and ends the absence of the loans of which `p_states` has the
-- state by their id. Of these no event may be missing now: each comes back as it left, to the last byte, or the call fails. Events of
-- loans that are not away are not taken.
create or replace function bring_back(p_events json, p_states json) returns void
  language plpgsql security definer set search_path from current
as $$
declare
  loans_back constant uuid[] := array(select json_object_keys(p_states)::uuid);
  strange uuid;
begin
  perform from loans l
  where l.id = any (loans_back || array(select (e ->> 'stream')::uuid from json_array_elements(p_events) e))
  order by l.id for no key update;
  insert into events (position, tx, occurred_at, version, fan_out, catalog_version, epoch, imported, is_of_loan, id, stream, partner_id,
                      type, other_family, data, actor, request_id, seen, traceparent, salt)
  overriding system value
  select a.* from archived_events(p_events) a join loans l on l.id = a.stream
  where position(substr(uuid_send(a.id), 1, 6) in l.away_events) > 0
  on conflict do nothing;
  select l.id into strange from loans l
  where l.id = any (loans_back) and l.away_digest is not null and l.away_digest is distinct from stream_digest(l.id, l.version) limit 1;
  if found then
    raise exception 'the archived files do not have the history of loan % as it left', strange
      using errcode = 'CT409', hint = 'archive verify tells which file is lost or altered: put a copy of it in its place';
  end if;
  insert into worker_events (event_id, digest, stream, is_own)
  select event, away_worker, id, true from loans cross join unnest(away_own) event where id = any (loans_back)
  on conflict do nothing;
  update loans l
  set state = p_states -> l.id::text, is_leaving = null, away_from = null, away_to = null, away_events = null, away_digest = null,
      away_worker = null, away_own = null
  where l.id = any (loans_back) and away_digest is not null;
end
$$;
