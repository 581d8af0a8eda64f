-- Ends the leaving of loans whose events are all gone. Returns those of which some are left.
create or replace function end_leaving() returns uuid[]
  language sql security definer set search_path from current
begin atomic
  update archived_streams s set is_leaving = false
  where is_leaving and not exists (select from events e where e.stream = s.stream);
  select array(
    select s.stream from archived_streams s where is_leaving and exists (select from events e where e.stream = s.stream) order by s.stream);
end;
