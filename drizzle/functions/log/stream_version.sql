-- The version of a stream's newest event, 0 before the first: what a core passes to append_event as the expected one. Also of a loan
-- whose events left the log.
create or replace function stream_version(p_stream uuid) returns integer
  language sql stable security definer set search_path from current
return coalesce(greatest((select max(version) from events where stream = p_stream),
                         (select version from loans where id = p_stream and away_digest is not null)), 0);
