-- The 4.096 s in which an event was appended, as the first 36 bits of its id have them: the index deliveries_of_webhook knows no more of
-- a time, so that many deliveries share an entry. In the order of these numbers and then of their ids, events are in the order of their ids.
create or replace function span_of(event_id uuid) returns bigint
  language sql immutable strict parallel safe
return ('x' || left(event_id::text, 8) || substr(event_id::text, 10, 1))::bit(36)::bigint;
