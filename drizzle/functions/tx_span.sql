-- Which 1,024 transactions this is one of: the index events_in_order knows no more of a transaction, so that many events share an entry.
create or replace function tx_span(tx xid8) returns integer
  language sql immutable strict parallel safe
return (xid8send(tx)::bigint >> 10)::integer;
