-- Ends the leaving of loans whose events are all gone: their states go, too. Returns those of which some events are left.
create or replace function end_leaving() returns uuid[]
  language sql security definer set search_path from current
begin atomic
  update loans l set is_leaving = null, state = null
  where is_leaving and not exists (select from events e where e.stream = l.id);
  select array(select id from loans where is_leaving order by id);
end;
