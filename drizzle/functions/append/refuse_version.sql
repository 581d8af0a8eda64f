-- For append_event, when the stream has no event of this version to follow, or one of the next already: says which.
create or replace function refuse_version(p_stream uuid, p_expected_version bigint, p_occurred_at timestamptz) returns void
  language plpgsql stable set search_path from current
as $$
declare
  current constant integer := stream_version(p_stream);
begin
  perform refuse_away(id) from loans where id = p_stream and away_digest is not null;
  if current = p_expected_version then
    raise exception 'p_occurred_at must not lie more than a day before the stream''s event before it'
      using errcode = 'CT400', hint = 'null stands for now; what is long past comes in with append_history';
  end if;
  raise exception 'stream % is not at version %', p_stream, p_expected_version
    using errcode = 'CT409', detail = format('{"version":%s}', current),
          hint = 'read stream_version(stream) again, decide on the new state, and append in a new transaction';
end
$$;
