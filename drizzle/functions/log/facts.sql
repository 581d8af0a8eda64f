-- The log as a fold reads it. It has a time and a payload for whatever row there is: of an event whose time is none of our era
-- with four digits, when it was written, and of a payload of more than 1 MiB, null. `append_event` takes neither (src/contract/legible.ts).
drop view if exists facts;
create view facts as
select id, stream, version, type, partner_id, epoch, tx, position,
       case when octet_length(data::text) <= 1048576 then data end as data,
       case when occurred_at >= '0001-01-01T00:00Z' and occurred_at < '10000-01-01T00:00Z' then occurred_at
            else uuid_extract_timestamp(id) end as occurred_at
from events;
