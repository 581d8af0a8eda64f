-- `facts` for an auditor without the grant for CPFs: a payload that is no JSON once it is masked is null.
drop view if exists masked_facts;
create view masked_facts as
select id, stream, version, type, partner_id, epoch, tx, position,
       case when pg_input_is_valid(shown, 'json') then shown::json end as data,
       case when occurred_at >= '0001-01-01T00:00Z' and occurred_at < '10000-01-01T00:00Z' then occurred_at
            else uuid_extract_timestamp(id) end as occurred_at
from events
cross join lateral (select case when octet_length(data::text) <= 1048576 then mask(data::text) end as shown offset 0) masked;
