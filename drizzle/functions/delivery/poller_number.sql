-- The number under which a poller of this name holds its lock (sign_of_life).
create or replace function poller_number(poller text) returns integer
  language sql immutable strict parallel safe set search_path from current
return hashtext(poller);
