-- What a session bears that refuse_strange_server let through, and that nobody else can make: the sequence's value is random and
-- nobody's but the owner's to read. Pollers, which are ours, only look whether they bear one.
create sequence if not exists session_marks;
select setval('session_marks', 1 + abs(('x' || encode(substr(uuid_send(gen_random_uuid()), 9), 'hex'))::bit(62)::bigint))
from session_marks where not is_called;

create or replace function session_mark() returns text
  language sql stable parallel safe
return md5(pg_backend_pid() || ' ' || pg_sequence_last_value('session_marks'::regclass));
