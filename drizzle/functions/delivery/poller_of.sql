-- The poller that made a claim. A claim is named `poller/number`, and `poller/term.number` when its poller held its lock (sign_of_life).
create or replace function poller_of(claim text) returns text
  language sql immutable strict parallel safe
return left(claim, length(claim) - strpos(reverse(claim), '/'));
